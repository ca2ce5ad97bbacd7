#include "cli/profile/time_shares.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "cli/profile/figures_text.hpp"

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

struct named_time {
  const char* name;
  const char* meaning;
};

/// Phases of a stratum outside its rules (docs/record.md), in the order in which they take from the rest.
constexpr named_time phases[] = {
    {"materialize", "stores factorized relations as columns"},
    {"index", "builds indexes on a device"},
    {"populate_delta", "sorts and deduplicates new tuples"},
    {"merge", "merges new tuples into relations"},
    {"clear", "ends iterations and frees memory"},
    {"allocation", "allocates device memory"},
};
constexpr named_time other_work = {"other work of strata", "iterations, and planning again"};
constexpr named_time spans[] = {
    {"compile", "reads and checks the program"},
    {"load", "reads fact files"},
    {"measure", "collects statistics of facts"},
    {"plan", "plans the program"},
    {"encode", "numbers the values of columns"},
    {"take over", "moves facts into relations"},
    {"write", "writes result files"},
};
constexpr named_time between_strata = {"between strata", "evaluates no stratum"};
constexpr named_time rest_of_run = {"rest of the run", "is in no part of the record"};

double seconds_of_rules(const ordered_json& stratum, const char* key) {
  double sum = 0;
  for (const ordered_json& rule : stratum.at("rules")) sum += number_in(rule, key);
  return sum;
}

std::string names_of(const ordered_json& stratum, std::size_t number) {
  std::string names;
  for (const ordered_json& name : stratum.at("relations"))
    names += (names.empty() ? "" : ", ") + name.get<std::string>();
  return "stratum " + std::to_string(number + 1) + ": " + names;
}

/// Sums times by name.
class share_sums {
 public:
  void add(const named_time& kind, double seconds, const std::string& part = {}) {
    if (seconds <= 0) return;
    auto found = std::find_if(shares_.begin(), shares_.end(), [&](const auto& one) { return one.name == kind.name; });
    if (found == shares_.end()) found = shares_.insert(found, {kind.name, kind.meaning, 0, {}});
    found->seconds += seconds;
    if (!part.empty()) found->parts.emplace_back(part, seconds);
    sum_ += seconds;
  }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] std::vector<time_share> take() {
    const auto is_longer = [](const auto& a, const auto& b) { return a.second > b.second; };
    for (time_share& one : shares_) std::stable_sort(one.parts.begin(), one.parts.end(), is_longer);
    std::stable_sort(shares_.begin(), shares_.end(),
                     [](const time_share& a, const time_share& b) { return a.seconds > b.seconds; });
    return std::move(shares_);
  }

 private:
  std::vector<time_share> shares_;
  double sum_ = 0;
};

const named_time& kind_of(const std::string& phase) {
  const auto* const found =
      std::find_if(std::begin(phases), std::end(phases), [&](const named_time& one) { return phase == one.name; });
  return found == std::end(phases) ? other_work : *found;
}

/// Returns the time in spans of this name. Spans of files that are read or written together overlap.
double seconds_of_spans(const ordered_json& run, std::string_view name) {
  std::vector<std::pair<double, double>> intervals;
  for (const ordered_json& span : run.at("spans")) {
    const double begin = number_in(span, "begin");
    if (text_in(span, "name") == name) intervals.emplace_back(begin, begin + number_in(span, "seconds"));
  }
  std::sort(intervals.begin(), intervals.end());
  double sum = 0;
  double end = 0;
  for (const auto& [from, until] : intervals) {
    sum += std::max(0.0, until - std::max(from, end));
    end = std::max(end, until);
  }
  return sum;
}

void add_passes(const ordered_json& run, std::vector<time_share>& shares) {
  for (time_share& share : shares) {
    if (share.name != "plan" || !run.contains("pass_seconds")) continue;
    for (const auto& [pass, seconds] : run.at("pass_seconds").items()) share.parts.emplace_back(pass, seconds);
    std::stable_sort(share.parts.begin(), share.parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }
}

}  // namespace

std::vector<std::pair<std::string, double>> stratum_shares(const ordered_json& stratum) {
  const double indexes = seconds_of_rules(stratum, "index_seconds");
  double left = number_in(stratum, "seconds") - seconds_of_rules(stratum, "seconds") - indexes;
  std::map<std::string, double> measured;
  for (const ordered_json& phase : stratum.at("phases")) measured[phase.at("name")] = phase.at("seconds");
  measured["index"] -= indexes;
  std::vector<std::pair<std::string, double>> shares;
  const auto take = [&](const char* name, double seconds) {
    if (seconds <= 0) return;
    shares.emplace_back(name, seconds);
    left -= seconds;
  };
  for (const named_time& phase : phases) take(phase.name, std::min(measured[phase.name], left));
  take(other_work.name, left);
  return shares;
}

std::vector<time_share> shares_outside_rules(const run_record& record) {
  const ordered_json& run = record.document;
  share_sums sums;
  for (const named_time& one : spans) sums.add(one, seconds_of_spans(run, one.name));
  double in_strata = 0;
  std::size_t number = 0;
  for (const ordered_json& stratum : run.at("strata")) {
    in_strata += number_in(stratum, "seconds");
    for (const auto& [name, seconds] : stratum_shares(stratum))
      sums.add(kind_of(name), seconds, names_of(stratum, number));
    ++number;
  }
  sums.add(between_strata, seconds_of_spans(run, "evaluate") - in_strata);
  sums.add(rest_of_run, number_in(run, "total_seconds") - sums.sum() - seconds_of_rules(record));
  std::vector<time_share> shares = sums.take();
  add_passes(run, shares);
  return shares;
}

double seconds_of_rules(const run_record& record) {
  double sum = 0;
  for (const recorded_rule& rule : record.rules) sum += rule.seconds;
  return sum;
}

}  // namespace gpulog::cli
