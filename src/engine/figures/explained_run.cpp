#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpulog/statistics.hpp"

/// Prints the plan of a run with the actual rows and time of each step (EXPLAIN ANALYZE).
namespace gpulog {
namespace {

constexpr std::size_t line_columns = 100;
constexpr std::size_t rows_width = 14;
constexpr std::size_t expected_width = 11;
constexpr std::size_t mark_width = 7;
/// Estimates that are off by more than this factor are marked.
constexpr double far_off = 10;

/// Appends lines of at most `line_columns` characters, broken at spaces.
/// @param first start of the first line
/// @param indentation of the remaining lines
void add_lines(std::string& result, std::string first, std::size_t indentation, std::string_view text) {
  std::string line = std::move(first);
  bool is_empty = true;
  while (!text.empty()) {
    // A run of spaces belongs to the next word.
    std::size_t end = text.find(' ', 1);
    while (end != std::string_view::npos && end + 1 < text.size() && text[end - 1] == ' ')
      end = text.find(' ', end + 1);
    const std::string_view word = text.substr(0, std::min(end, text.size()));
    if (!is_empty && line.size() + word.size() > line_columns) {
      result += line + "\n";
      line.assign(indentation, ' ');
      line += word.substr(std::min(word.find_first_not_of(' '), word.size()));
    } else {
      line += word;
    }
    is_empty = false;
    text.remove_prefix(word.size());
  }
  result += line + "\n";
}

std::string seconds_text(double seconds) { return fmt::format("{:.6f} s", seconds); }

/// Formats large numbers in groups of three digits.
std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string guess_text(double guess) {
  constexpr double most_digits = 1e6;
  if (guess >= most_digits) return fmt::format("~{:.2g}", guess);
  if (guess < 1) return fmt::format("~{:.1g}", guess);
  return "~" + count_text(static_cast<std::uint64_t>(std::llround(guess)));
}

/// Returns the factor by which an estimate was off; empty if the estimate was close.
std::string mark_text(double rows, double expected) {
  const double times = std::max(rows, 1.0) / std::max(expected, 1.0);
  if (times > far_off) return fmt::format("x{:.0f}", times);
  if (times < 1 / far_off) return fmt::format("/{:.0f}", 1 / times);
  return {};
}

std::string operator_line(const operator_statistics& one, std::uint64_t runs, bool has_rows) {
  const std::string rows = one.rows ? count_text(*one.rows) : "-";
  std::string expected;
  std::string mark;
  if (one.expected) {
    const double in_these_runs = *one.expected * static_cast<double>(runs);
    expected = guess_text(in_these_runs);
    if (one.rows) mark = mark_text(static_cast<double>(*one.rows), in_these_runs);
  }
  if (!has_rows) return {};
  return fmt::format("{:>{}}{:>{}}{:>{}}", rows, rows_width, expected, expected_width, mark, mark_width);
}

void add_operators(std::string& result, const rule_statistics& rule) {
  constexpr std::size_t gap = 2;
  const bool has_rows = rule.runs != 0;
  if (has_rows) {
    result += fmt::format("{:>{}}{:>{}}{:>{}}\n", "rows", rows_width, "expected", expected_width, "off", mark_width);
  }
  for (const operator_statistics& one : rule.operators) {
    std::string line = operator_line(one, rule.counted_runs != 0 ? rule.counted_runs : rule.runs, has_rows);
    if (line.empty()) line.assign(4, ' ');
    line.append(gap + std::size_t{2} * one.depth, ' ');
    const std::size_t indentation = line.size() + 4;
    add_lines(result, std::move(line), indentation, one.text);
  }
}

std::string runs_text(const rule_statistics& rule, const stratum_statistics& stratum) {
  if (rule.runs == 0 && rule.candidates == 0)
    return "did not run: a relation in the body was empty, or no rule that runs reads the head";
  std::string text = fmt::format("runs {}, ", count_text(rule.runs));
  if (rule.strategy == "subsumption") {
    text += fmt::format("pairs {}, removed tuples {}", count_text(rule.candidates), count_text(rule.tuples));
  } else if (rule.counted_runs != 0 && !rule.operators.empty() && !rule.operators.back().rows) {
    // A device counts candidates before the tests that follow its last search.
    text += fmt::format("candidates {} before its last tests, new {}", count_text(rule.candidates),
                        count_text(rule.tuples));
  } else {
    text += fmt::format("candidates {}, new {}, duplicates {}", count_text(rule.candidates), count_text(rule.tuples),
                        count_text(rule.candidates - std::min(rule.tuples, rule.candidates)));
  }
  text += ", time " + seconds_text(rule.seconds);
  const bool has_index = std::any_of(stratum.indexes.begin(), stratum.indexes.end(), [&](const auto& index) {
    return index.seconds && index.rule < stratum.rules.size() && &stratum.rules[index.rule] == &rule;
  });
  return has_index ? text + ", indexes " + seconds_text(rule.index_seconds) : text;
}

void add_rule(std::string& result, const rule_statistics& rule, const stratum_statistics& stratum) {
  add_lines(result, "  ", 6, rule.rule);
  std::string place = rule.location;
  if (rule.delta_atom >= 0) place += fmt::format("; atom {} reads new tuples only", rule.delta_atom + 1);
  add_lines(result, "    ", 6, place);
  add_lines(result, "    ", 6, runs_text(rule, stratum));
  if (!rule.order.empty()) add_lines(result, "    ", 6, "order: " + rule.order);
  const bool ran = rule.runs != 0 || rule.candidates != 0;
  if (ran && (rule.strategy != "pipelines" || rule.counted_runs < rule.runs)) {
    std::string text = rule.counted_runs == 0 ? "rows of steps not counted"
                                              : fmt::format("rows of steps counted in {} of {} runs",
                                                            count_text(rule.counted_runs), count_text(rule.runs));
    if (rule.strategy != "pipelines") text += "; strategy: " + rule.strategy;
    if (rule.row_wise_runs != 0) text += fmt::format(" (in {} of {} runs)", rule.row_wise_runs, rule.runs);
    add_lines(result, "    ", 6, text);
  }
  add_operators(result, rule);
  for (const earlier_plan& earlier : rule.earlier_plans) {
    result += fmt::format("    before it was ordered again ({} of {} runs, {} of {} rows joined, {}):\n",
                          count_text(earlier.runs), count_text(rule.runs), count_text(earlier.bindings),
                          count_text(rule.bindings), seconds_text(earlier.seconds));
    for (const std::string& line : earlier.plan) {
      const std::size_t depth = std::min(line.find_first_not_of(' '), line.size());
      add_lines(result, std::string(6 + depth, ' '), 10 + depth, std::string_view(line).substr(depth));
    }
  }
}

std::string sizes_text(const std::vector<size_statistics>& sizes) {
  std::vector<std::string> texts;
  for (const size_statistics& size : sizes) {
    texts.push_back(fmt::format("{} {}", size.relation,
                                size.was_counted ? count_text(static_cast<std::uint64_t>(std::llround(size.planned)))
                                                 : guess_text(size.planned)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string later_sizes_text(const std::vector<size_statistics>& sizes) {
  std::vector<std::string> texts;
  for (const size_statistics& size : sizes) {
    if (size.known_later && *size.known_later != size.planned)
      texts.push_back(fmt::format("{} {}", size.relation, guess_text(*size.known_later)));
  }
  return texts.empty() ? "the same" : fmt::format("{}", fmt::join(texts, ", "));
}

void add_stratum(std::string& result, const stratum_statistics& stratum, std::size_t number) {
  const std::string iterations =
      stratum.recursive ? fmt::format("; iterations {}", count_text(stratum.iterations)) : "";
  add_lines(result, fmt::format("stratum {}: ", number), 4,
            fmt::format("{}{}", fmt::join(stratum.relations, ", "), stratum.recursive ? " (recursive)" : ""));
  add_lines(result, "  ", 4,
            fmt::format("time {} on {}{}; strategies: {}", seconds_text(stratum.seconds), stratum.backend, iterations,
                        fmt::join(stratum.strategies, ", ")));
  if (!stratum.reason.empty()) add_lines(result, "  ", 4, "reason: " + stratum.reason);
  if (!stratum.sizes.empty()) add_lines(result, "  ", 4, "tuples when planned: " + sizes_text(stratum.sizes));
  const bool is_ordered_again = std::any_of(stratum.sizes.begin(), stratum.sizes.end(),
                                            [](const size_statistics& size) { return size.known_later.has_value(); });
  if (is_ordered_again) {
    add_lines(result, "  ", 4, "ordered again at its start with these sizes: " + later_sizes_text(stratum.sizes));
  }
  for (const rule_statistics& rule : stratum.rules) add_rule(result, rule, stratum);
  for (const index_statistics& index : stratum.indexes) {
    const std::string rule = index.rule < stratum.rules.size() ? stratum.rules[index.rule].location : "";
    add_lines(
        result, "  ", 4,
        fmt::format("index {} of {} by {}: {}, {} bytes, first needed by {}", index.number, index.relation,
                    fmt::join(index.columns, ","), index.seconds ? seconds_text(*index.seconds) : "time not known",
                    count_text(index.bytes), rule));
  }
}

}  // namespace

std::string explain(const statistics& figures) {
  std::string result;
  bool has_rules = false;
  for (std::size_t number = 0; number < figures.strata.size(); ++number) {
    const stratum_statistics& stratum = figures.strata[number];
    if (stratum.rules.empty()) continue;
    add_stratum(result, stratum, number);
    result += "\n";
    has_rules = true;
  }
  if (has_rules) {
    result +=
        "rows: what came out of each step in all runs; expected: by the planner's guess, times the runs;\n"
        "off: more than 10 times as many rows as expected (x) or as few (/)\n";
  }
  result += fmt::format("load {}, evaluate {}, write {}, total {}\n", seconds_text(figures.load_seconds),
                        seconds_text(figures.evaluate_seconds), seconds_text(figures.write_seconds),
                        seconds_text(figures.total_seconds));
  return result;
}

}  // namespace gpulog
