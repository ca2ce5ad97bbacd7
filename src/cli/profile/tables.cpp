#include "cli/profile/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cli/line_text.hpp"

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t columns = 80;

/// Truncates the text to `most` characters, ending in "...".
std::string shortened(const std::string& text, std::size_t most) {
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  std::size_t characters = 0;
  std::size_t cut = 0;  // start of the last character before "..."
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_inside(text[i])) continue;
    if (characters + 3 == most) cut = i;
    if (++characters > most) return text.substr(0, cut) + "...";
  }
  return text;
}

/// Truncates a path at its start, because the end of a path is more informative.
std::string shortened_path(const std::string& path, std::size_t most) {
  if (path.size() <= most) return path;
  std::size_t begin = path.size() - most + 3;
  while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0U) == 0x80U) ++begin;
  return "..." + path.substr(begin);
}

/// Formats a number with at most seven characters.
std::string short_number(double number, double step, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(number) >= step * 0.9995 && prefix + 1 < std::size(prefixes)) {
    number /= step;
    ++prefix;
  }
  return fmt::format("{}{}{}", prefix == 0 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number),
                     prefixes[prefix], unit);
}
std::string count_text(double number) { return short_number(number, 1000, ""); }
std::string bytes_text(double number) { return short_number(number, 1024, "B"); }
std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

double number_in(const ordered_json& object, const char* key) { return object.value(key, 0.0); }
std::string text_in(const ordered_json& object, const char* key) { return object.value(key, std::string()); }

std::string heading(const run_record& record) {
  const ordered_json& run = record.document;
  const ordered_json& outcome = run.at("outcome");
  std::string text = fmt::format("{}: {}, {:.3f} s, -j{} on {}, {} at most\n", text_in(run, "program"),
                                 text_in(outcome, "state"), number_in(run, "total_seconds"), run.value("jobs", 1U),
                                 text_in(run, "backend"), bytes_text(number_in(run, "peak_process_bytes")));
  if (const std::string message = text_in(outcome, "message"); !message.empty())
    text += shortened("  " + in_one_line(message), columns) + "\n";
  if (outcome.contains("step") && outcome.at("step").is_object()) {
    const ordered_json& step = outcome.at("step");
    std::string where = fmt::format("  last: {}", text_in(step, "phase"));
    if (step.contains("stratum")) {
      where += fmt::format(", stratum {} ({}), iteration {}", step.at("stratum").get<std::uint64_t>() + 1,
                           text_in(step, "relations"), step.value("iteration", std::uint64_t{0}));
    }
    text += shortened(where, columns) + "\n";
    if (!text_in(step, "rule").empty()) {
      text += shortened("  " + in_one_line(text_in(step, "rule")), columns) + "\n  " + text_in(step, "location") + "\n";
    }
  }
  text += fmt::format("compile {:.3f} s, load {:.3f} s, evaluate {:.3f} s, write {:.3f} s\n",
                      number_in(run, "compile_seconds"), number_in(run, "load_seconds"),
                      number_in(run, "evaluate_seconds"), number_in(run, "write_seconds"));
  return text;
}

double seconds_of_rules(const run_record& record) {
  double sum = 0;
  for (const recorded_rule& rule : record.rules) sum += rule.seconds;
  return sum;
}

std::string place_of(const recorded_rule& rule) {
  return rule.delta_atom < 0 ? rule.location : fmt::format("{}, delta of atom {}", rule.location, rule.delta_atom + 1);
}

std::string rules_table(const run_record& record, std::size_t most) {
  std::vector<const recorded_rule*> rules;
  for (const recorded_rule& rule : record.rules) {
    if (rule.runs > 0 || rule.seconds > 0) rules.push_back(&rule);
  }
  std::stable_sort(rules.begin(), rules.end(), [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
  const double all = seconds_of_rules(record);
  std::string text = fmt::format("\nRules: the slowest of {}\n{:>9} {:>6} {:>6} {:>10} {:>8}  rule\n", rules.size(),
                                 "seconds", "share", "runs", "candidates", "tuples");
  for (std::size_t i = 0; i < std::min(most, rules.size()); ++i) {
    const recorded_rule& rule = *rules[i];
    const std::string figures =
        fmt::format("{:9.3f} {:>6} {:>6} {:>10} {:>8}  ", rule.seconds, share_text(rule.seconds, all),
                    count_text(static_cast<double>(rule.runs)), count_text(static_cast<double>(rule.candidates)),
                    count_text(static_cast<double>(rule.tuples)));
    text += figures + shortened(in_one_line(rule.rule), columns - figures.size()) + "\n" +
            std::string(figures.size(), ' ') + shortened(place_of(rule), columns - figures.size()) + "\n";
    constexpr double told_share = 0.1;
    if (rule.index_seconds > told_share * rule.seconds)
      text += std::string(figures.size(), ' ') + fmt::format("of that, its indexes {:.3f}\n", rule.index_seconds);
  }
  return text;
}

/// Sums the seconds of rules by the relation of the head.
std::map<std::string, double> seconds_of_relations(const run_record& record) {
  std::map<std::string, double> seconds;
  for (const recorded_rule& rule : record.rules) seconds[rule.rule.substr(0, rule.rule.find('('))] += rule.seconds;
  return seconds;
}

std::string relations_table(const run_record& record, std::size_t most) {
  const std::map<std::string, double> seconds = seconds_of_relations(record);
  std::vector<const ordered_json*> relations;
  for (const ordered_json& relation : record.document.at("relations")) relations.push_back(&relation);
  std::stable_sort(relations.begin(), relations.end(),
                   [](const auto* a, const auto* b) { return number_in(*a, "tuples") > number_in(*b, "tuples"); });
  std::string text = fmt::format("\nRelations: the largest of {}\n{:>9} {:>9} {:>9}  {:<6} relation\n",
                                 relations.size(), "tuples", "bytes", "seconds", "set");
  for (std::size_t i = 0; i < std::min(most, relations.size()); ++i) {
    const ordered_json& relation = *relations[i];
    const auto found = seconds.find(text_in(relation, "name"));
    text += shortened(fmt::format("{:>9} {:>9} {:>9}  {:<6} {}", count_text(number_in(relation, "tuples")),
                                  bytes_text(number_in(relation, "bytes")),
                                  found == seconds.end() ? "-" : fmt::format("{:.3f}", found->second),
                                  text_in(relation, "set"), text_in(relation, "name")),
                      columns) +
            "\n";
  }
  return text;
}

std::string files_table(const run_record& record, std::size_t most) {
  std::vector<const ordered_json*> files;
  for (const ordered_json& file : record.document.at("files")) files.push_back(&file);
  if (files.empty()) return {};
  std::stable_sort(files.begin(), files.end(),
                   [](const auto* a, const auto* b) { return number_in(*a, "seconds") > number_in(*b, "seconds"); });
  std::string text = fmt::format("\nFiles: the slowest of {}\n{:>9} {:>9} {:>9} {:>9}  file\n", files.size(), "seconds",
                                 "rows", "bytes", "MB/s");
  constexpr double mega = 1e6;
  for (std::size_t i = 0; i < std::min(most, files.size()); ++i) {
    const ordered_json& file = *files[i];
    const double seconds = number_in(file, "seconds");
    const double bytes = number_in(file, "bytes");
    const std::string rate = bytes > 0 && seconds > 0 ? fmt::format("{:.1f}", bytes / mega / seconds) : "-";
    const std::string figures =
        fmt::format("{:9.3f} {:>9} {:>9} {:>9}  {} ", seconds, count_text(number_in(file, "rows")),
                    bytes > 0 ? bytes_text(bytes) : "-", rate, file.value("is_output", false) ? "write" : "read");
    text += figures + shortened_path(text_in(file, "file"), columns - figures.size()) + "\n";
  }
  return text;
}

struct compared_rule {
  const recorded_rule* shown = nullptr;
  double first = 0, second = 0;
  bool in_first = false, in_second = false;
};

std::vector<compared_rule> compare_rules(const run_record& first, const run_record& second) {
  std::map<std::pair<std::string, int>, compared_rule> all;
  for (const recorded_rule& rule : first.rules) {
    compared_rule& one = all[{rule.rule, rule.delta_atom}];
    one.shown = &rule;
    one.first += rule.seconds;
    one.in_first = true;
  }
  for (const recorded_rule& rule : second.rules) {
    compared_rule& one = all[{rule.rule, rule.delta_atom}];
    one.shown = &rule;
    one.second += rule.seconds;
    one.in_second = true;
  }
  std::vector<compared_rule> result;
  for (const auto& [key, one] : all) result.push_back(one);
  std::stable_sort(result.begin(), result.end(), [](const compared_rule& a, const compared_rule& b) {
    return std::abs(a.second - a.first) > std::abs(b.second - b.first);
  });
  return result;
}

std::string difference_line(const std::string& name, double first, double second) {
  const std::string ratio = first > 0 ? fmt::format("{:.2f}", second / first) : "-";
  return fmt::format("{:>9.3f} {:>9.3f} {:>+10.3f} {:>7}  {}", first, second, second - first, ratio, name);
}

std::string compared_relations(const run_record& first, const run_record& second, std::size_t most) {
  std::map<std::string, std::pair<double, double>> sizes;
  constexpr double absent = -1;
  for (const ordered_json& one : first.document.at("relations"))
    sizes[text_in(one, "name")] = {number_in(one, "tuples"), absent};
  for (const ordered_json& one : second.document.at("relations"))
    sizes.try_emplace(text_in(one, "name"), absent, absent).first->second.second = number_in(one, "tuples");
  std::string lines;
  std::size_t differing = 0;
  for (const auto& [name, size] : sizes) {
    if (size.first == size.second) continue;
    const auto shown = [](double tuples) { return tuples < 0 ? std::string("-") : fmt::format("{:.0f}", tuples); };
    if (++differing > most) continue;
    lines += shortened(fmt::format("{:>14} {:>14}  {}", shown(size.first), shown(size.second), name), columns) + "\n";
  }
  if (differing == 0) return "\nAll relations have as many tuples in both runs.\n";
  return fmt::format("\nRelations whose numbers of tuples differ: {}\n{:>14} {:>14}  relation\n", differing, "A", "B") +
         lines;
}

}  // namespace

std::string profile_tables(const run_record& record, std::size_t most) {
  return heading(record) + rules_table(record, most) + relations_table(record, most) + files_table(record, most);
}

std::string comparison_tables(const run_record& first, const run_record& second, std::size_t most) {
  std::string text = "A: " + heading(first) + "B: " + heading(second);
  text += fmt::format("\n{:>9} {:>9} {:>10} {:>7}  seconds\n", "A", "B", "B - A", "B / A");
  for (const char* key : {"total_seconds", "compile_seconds", "load_seconds", "evaluate_seconds", "write_seconds"}) {
    std::string name = key;
    name.resize(name.size() - std::string("_seconds").size());
    text += difference_line(name, number_in(first.document, key), number_in(second.document, key)) + "\n";
  }
  const std::vector<compared_rule> rules = compare_rules(first, second);
  text += fmt::format("\nRules: those of {} that differ most\n{:>9} {:>9} {:>10} {:>7}  rule\n", rules.size(), "A", "B",
                      "B - A", "B / A");
  for (std::size_t i = 0; i < std::min(most, rules.size()); ++i) {
    const compared_rule& rule = rules[i];
    const std::string only = rule.in_first && rule.in_second ? "" : rule.in_first ? "only A: " : "only B: ";
    text += shortened(difference_line(only + in_one_line(rule.shown->rule), rule.first, rule.second), columns) + "\n";
    text += std::string(40, ' ') + shortened(place_of(*rule.shown), columns - 40) + "\n";
  }
  return text + compared_relations(first, second, most);
}

}  // namespace gpulog::cli
