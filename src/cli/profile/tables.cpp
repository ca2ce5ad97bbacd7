#include "cli/profile/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "cli/line_text.hpp"
#include "cli/profile/advice.hpp"
#include "cli/profile/figures_text.hpp"
#include "cli/profile/time_shares.hpp"

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

/// The parts of a run's time.
struct time_table {
  double rules = 0;
  std::vector<time_share> shares;

  [[nodiscard]] double all() const {
    return std::accumulate(shares.begin(), shares.end(), rules,
                           [](double sum, const time_share& share) { return sum + share.seconds; });
  }
};

std::string heading(const run_record& record) {
  const ordered_json& run = record.document;
  const ordered_json& outcome = run.at("outcome");
  std::string text =
      fmt::format("{}: {}, {:.3f} s, -j{} on {}\nmemory at most: process {} resident, relations {} allocated\n",
                  text_in(run, "program"), text_in(outcome, "state"), number_in(run, "total_seconds"),
                  run.value("jobs", 1U), text_in(run, "backend"), bytes_text(number_in(run, "peak_process_bytes")),
                  bytes_text(number_in(run, "peak_relation_bytes")));
  if (const double spilled = number_in(run, "peak_spilled_bytes"); spilled > 0) {
    text.pop_back();
    text += fmt::format(", on disk {}\n", bytes_text(spilled));
  }
  if (const std::string message = text_in(outcome, "message"); !message.empty())
    text += shortened("  " + in_one_line(message), table_columns) + "\n";
  if (outcome.contains("step") && outcome.at("step").is_object()) {
    const ordered_json& step = outcome.at("step");
    std::string where = fmt::format("  last: {}", text_in(step, "phase"));
    if (step.contains("stratum")) {
      where += fmt::format(", stratum {} ({}), iteration {}", step.at("stratum").get<std::uint64_t>() + 1,
                           text_in(step, "relations"), step.value("iteration", std::uint64_t{0}));
    }
    text += shortened(where, table_columns) + "\n";
    if (!text_in(step, "rule").empty()) {
      text += shortened("  " + in_one_line(text_in(step, "rule")), table_columns) + "\n  " + text_in(step, "location") +
              "\n";
    }
  }
  return text;
}

std::string place_of(const recorded_rule& rule) {
  return rule.delta_atom < 0 ? rule.location : fmt::format("{}, delta of atom {}", rule.location, rule.delta_atom + 1);
}

/// Formats the parts of the run's time, which add up.
std::string times_table(const time_table& times, std::size_t most) {
  std::vector<std::pair<double, std::string>> lines = {{times.rules, "rules, and indexes built for them"}};
  for (const time_share& share : times.shares) lines.emplace_back(share.seconds, share.name + ": " + share.meaning);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (lines.size() > most) {
    double others = 0;
    for (std::size_t i = most; i < lines.size(); ++i) others += lines[i].first;
    lines.resize(most);
    lines.emplace_back(others, "everything else");
  }
  std::string text = fmt::format("\nTime: all parts\n{:>9} {:>6}  part\n", "seconds", "share");
  for (const auto& [seconds, name] : lines)
    text += fmt::format("{:9.3f} {:>6}  {}\n", seconds, share_text(seconds, times.all()), name);
  return text;
}

std::string advice_list(const run_record& record, const time_table& times, std::size_t most) {
  const std::vector<advice> found = advice_for(record);
  if (found.empty()) return {};
  std::string text =
      fmt::format("\nAdvice on rules and indexes with at least {:.0f} % of the time: {}\n{:>9} {:>6}  rule\n",
                  100 * advised_share, found.size(), "seconds", "share");
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
    const std::string figures =
        fmt::format("{:9.3f} {:>6}  ", found[i].seconds, share_text(found[i].seconds, times.all()));
    text += figures + shortened(place_of(record.rules[found[i].rule]), table_columns - figures.size()) + "\n" +
            indented_lines(found[i].text, figures.size());
  }
  return text;
}

std::string rules_table(const run_record& record, const time_table& times, std::size_t most) {
  std::vector<const recorded_rule*> rules;
  for (const recorded_rule& rule : record.rules) {
    if (rule.runs > 0 || rule.seconds > 0) rules.push_back(&rule);
  }
  std::stable_sort(rules.begin(), rules.end(), [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
  std::string text = fmt::format("\nRules: the slowest of {}\n{:>9} {:>6} {:>6} {:>10} {:>8}  rule\n", rules.size(),
                                 "seconds", "share", "runs", "candidates", "tuples");
  for (std::size_t i = 0; i < std::min(most, rules.size()); ++i) {
    const recorded_rule& rule = *rules[i];
    const std::string figures =
        fmt::format("{:9.3f} {:>6} {:>6} {:>10} {:>8}  ", rule.seconds, share_text(rule.seconds, times.all()),
                    count_text(static_cast<double>(rule.runs)), count_text(static_cast<double>(rule.candidates)),
                    count_text(static_cast<double>(rule.tuples)));
    text += figures + shortened(in_one_line(rule.rule), table_columns - figures.size()) + "\n" +
            std::string(figures.size(), ' ') + shortened(place_of(rule), table_columns - figures.size()) + "\n";
    constexpr double told_share = 0.1;
    if (rule.index_seconds > told_share * rule.seconds)
      text += std::string(figures.size(), ' ') + fmt::format("of that, indexes {:.3f}\n", rule.index_seconds);
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
                      table_columns) +
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
    text += figures + shortened_path(text_in(file, "file"), table_columns - figures.size()) + "\n";
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
    lines +=
        shortened(fmt::format("{:>14} {:>14}  {}", shown(size.first), shown(size.second), name), table_columns) + "\n";
  }
  if (differing == 0) return "\nAll relations have as many tuples in both runs.\n";
  return fmt::format("\nRelations whose numbers of tuples differ: {}\n{:>14} {:>14}  relation\n", differing, "A", "B") +
         lines;
}

}  // namespace

std::string profile_tables(const run_record& record, std::size_t most) {
  const time_table times = {seconds_of_rules(record), shares_outside_rules(record)};
  return heading(record) + times_table(times, most) + advice_list(record, times, most) +
         rules_table(record, times, most) + relations_table(record, most) + files_table(record, most);
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
  text += fmt::format("\nRules: the largest differences of {} rules\n{:>9} {:>9} {:>10} {:>7}  rule\n", rules.size(),
                      "A", "B", "B - A", "B / A");
  for (std::size_t i = 0; i < std::min(most, rules.size()); ++i) {
    const compared_rule& rule = rules[i];
    const std::string only = rule.in_first && rule.in_second ? "" : rule.in_first ? "only A: " : "only B: ";
    text +=
        shortened(difference_line(only + in_one_line(rule.shown->rule), rule.first, rule.second), table_columns) + "\n";
    text += std::string(40, ' ') + shortened(place_of(*rule.shown), table_columns - 40) + "\n";
  }
  return text + compared_relations(first, second, most);
}

}  // namespace gpulog::cli
