#include "cli/profile/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "cli/line_text.hpp"
#include "cli/profile/figures_text.hpp"

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

std::string duplicates_text(const recorded_rule& rule) {
  const auto candidates = static_cast<double>(rule.candidates);
  const double share = rule.candidates == 0 ? 0 : 1 - static_cast<double>(rule.tuples) / candidates;
  if (share < advised_duplicates) return {};
  return fmt::format(
      "{:.0f} % of {} candidates are duplicates (advice from {:.0f} %): join through a relation with only the columns "
      "that the head needs.",
      std::floor(100 * share), count_text(candidates), 100 * advised_duplicates);
}

/// Returns advice for the first step whose estimate is far off. A rule that reads fewer than three atoms has no order
/// to choose.
std::string estimate_text(const ordered_json& rule) {
  constexpr std::ptrdiff_t least_atoms = 3;
  if (!rule.contains("operators")) return {};
  const ordered_json& steps = rule.at("operators");
  const auto reads = [](const ordered_json& step) { return step.contains("passed_on"); };
  if (std::count_if(steps.begin(), steps.end(), reads) < least_atoms) return {};
  const double runs = std::max(number_in(rule, rule.value("counted_runs", 0U) > 0 ? "counted_runs" : "runs"), 1.0);
  for (const ordered_json& step : steps) {
    if (!step.contains("expected") || !step.contains("rows")) continue;
    const double expected = number_in(step, "expected") * runs;
    const double rows = number_in(step, "rows");
    const double times = std::max(rows, 1.0) / std::max(expected, 1.0);
    if (std::max(times, 1 / times) < advised_error) continue;
    return fmt::format(
        "The step \"{}\" has {} rows, but {} were expected (advice from {:.0f} times): add .plan or split the rule.",
        trimmed(in_one_line(text_in(step, "operator"))), count_text(rows), count_text(expected), advised_error);
  }
  return {};
}

std::string index_text(const ordered_json& index) {
  std::string columns;
  for (const ordered_json& column : index.at("columns"))
    columns += (columns.empty() ? "" : ",") + column.get<std::string>();
  return fmt::format(
      "Index {} of {} by {} is built for one rule: search the relation by columns that other rules also search, or "
      "search a smaller relation.",
      index.value("number", std::uint64_t{0}), text_in(index, "relation"), columns);
}

class advice_finder {
 public:
  explicit advice_finder(const run_record& record)
      : record_(record), least_(advised_share * number_in(record.document, "total_seconds")) {}

  std::vector<advice> find() {
    std::size_t first = 0;
    for (const ordered_json& stratum : record_.document.at("strata")) {
      std::size_t number = first;
      for (const ordered_json& rule : stratum.at("rules")) {
        const recorded_rule& recorded = record_.rules[number];
        add(number, recorded.seconds, "duplicates", duplicates_text(recorded));
        add(number, recorded.seconds, "estimate", estimate_text(rule));
        ++number;
      }
      for (const ordered_json& index : stratum.at("indexes")) {
        const std::size_t rule = first + index.value("rule", std::size_t{0});
        if (rule < number && index.value("rules", 0U) == 1 && index.at("seconds").is_number())
          add(rule, number_in(index, "seconds"), index.at("number").dump(), index_text(index));
      }
      first = number;
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const keyed_advice& a, const keyed_advice& b) { return a.seconds > b.seconds; });
    std::set<std::string> keys;
    std::vector<advice> result;
    for (keyed_advice& one : found_) {
      if (keys.insert(one.key).second) result.push_back(std::move(one));
    }
    return result;
  }

 private:
  struct keyed_advice : advice {
    std::string key;  ///< equal for the versions of a rule
  };

  void add(std::size_t rule, double seconds, const std::string& kind, std::string text) {
    if (text.empty() || seconds < least_ || seconds <= 0) return;
    const recorded_rule& recorded = record_.rules[rule];
    found_.push_back({{rule, seconds, std::move(text)}, kind + " " + recorded.location + " " + recorded.rule});
  }

  const run_record& record_;
  double least_;
  std::vector<keyed_advice> found_;
};

}  // namespace

std::vector<advice> advice_for(const run_record& record) { return advice_finder(record).find(); }

}  // namespace gpulog::cli
