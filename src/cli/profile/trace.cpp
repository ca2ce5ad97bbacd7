#include "cli/profile/trace.hpp"

#include <string>

namespace gpulog::cli {
namespace {

using nlohmann::ordered_json;

constexpr double microseconds = 1e6;

/// Rows of the trace viewer.
enum class lane : int { spans = 1, strata, rules, device };

ordered_json name_of(lane row, const char* name) {
  return {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", static_cast<int>(row)}, {"args", {{"name", name}}}};
}

ordered_json slice(lane row, const std::string& name, double begin, double seconds, ordered_json arguments) {
  return {{"ph", "X"},
          {"name", name},
          {"pid", 1},
          {"tid", static_cast<int>(row)},
          {"ts", begin * microseconds},
          {"dur", seconds * microseconds},
          {"args", std::move(arguments)}};
}

ordered_json counter(const std::string& name, double at, const std::string& series, double value) {
  return {{"ph", "C"}, {"name", name}, {"pid", 1}, {"ts", at * microseconds}, {"args", {{series, value}}}};
}

/// Adds the rules of a stratum one after another; a rule of a loop has the sum of its runs.
void add_rules(ordered_json& events, const ordered_json& stratum) {
  double begin = stratum.at("begin");
  for (const ordered_json& rule : stratum.at("rules")) {
    const double seconds = rule.at("seconds").get<double>() + rule.value("index_seconds", 0.0);
    if (seconds <= 0) continue;
    events.push_back(slice(lane::rules, rule.at("rule"), begin, seconds,
                           {{"place", rule.at("location")},
                            {"runs", rule.at("runs")},
                            {"candidates", rule.at("candidates")},
                            {"tuples", rule.at("tuples")}}));
    begin += seconds;
  }
}

void add_deltas(ordered_json& events, const ordered_json& stratum) {
  double at = stratum.at("begin");
  for (const ordered_json& part : stratum.at("deltas")) {
    events.push_back(counter("delta", at, "tuples", part.at(1).get<double>() / part.at(0).get<double>()));
    at += part.at(2).get<double>();
  }
}

}  // namespace

std::string trace_of(const run_record& record) {
  ordered_json events = ordered_json::array();
  events.push_back(name_of(lane::spans, "run"));
  events.push_back(name_of(lane::strata, "strata"));
  events.push_back(name_of(lane::rules, "rules (sums of all runs)"));
  events.push_back(name_of(lane::device, "device"));
  for (const ordered_json& span : record.document.at("spans")) {
    const std::string name = span.at("name");
    const std::string subject = span.at("subject");
    events.push_back(slice(name == "device start" ? lane::device : lane::spans,
                           subject.empty() ? name : name + " " + subject, span.at("begin"), span.at("seconds"),
                           ordered_json::object()));
  }
  for (const ordered_json& stratum : record.document.at("strata")) {
    if (stratum.at("rules").empty()) continue;
    std::string names;
    for (const ordered_json& name : stratum.at("relations"))
      names += (names.empty() ? "" : ", ") + name.get<std::string>();
    events.push_back(slice(lane::strata, names, stratum.at("begin"), stratum.at("seconds"),
                           {{"iterations", stratum.at("iterations")}, {"backend", stratum.at("backend")}}));
    add_rules(events, stratum);
    add_deltas(events, stratum);
  }
  for (const ordered_json& sample : record.document.at("samples")) {
    events.push_back(counter("memory", sample.at(0), "process bytes", sample.at(2)));
    events.push_back(counter("relations", sample.at(0), "relation bytes", sample.at(3)));
  }
  const ordered_json document = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gpulog::cli
