#include "gpulog/statistics.hpp"

#include <nlohmann/json.hpp>

namespace gpulog {
namespace {

using nlohmann::ordered_json;

ordered_json document_of(const rule_statistics& rule) {
  return {{"rule", rule.rule},       {"location", rule.location},         {"delta_atom", rule.delta_atom},
          {"runs", rule.runs},       {"candidates", rule.candidates},     {"tuples", rule.tuples},
          {"seconds", rule.seconds}, {"runs_by_rows", rule.runs_by_rows}, {"plan", rule.plan}};
}

ordered_json document_of(const stratum_statistics& stratum) {
  ordered_json phases = ordered_json::array();
  for (const phase_statistics& phase : stratum.phases) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  ordered_json rules = ordered_json::array();
  for (const rule_statistics& rule : stratum.rules) rules.push_back(document_of(rule));
  return {{"relations", stratum.relations},
          {"recursive", stratum.recursive},
          {"backend", stratum.backend},
          {"reason", stratum.reason},
          {"strategies", stratum.strategies},
          {"was_run", stratum.was_run},
          {"given_up", stratum.given_up ? ordered_json(*stratum.given_up) : ordered_json()},
          {"iterations", stratum.iterations},
          {"iterations_before_move",
           stratum.iterations_before_move ? ordered_json(*stratum.iterations_before_move) : ordered_json()},
          {"tail_iterations", stratum.tail_iterations},
          {"looped_iterations", stratum.looped_iterations},
          {"seconds", stratum.seconds},
          {"phases", std::move(phases)},
          {"rules", std::move(rules)}};
}

}  // namespace

std::string to_json(const statistics& figures) {
  ordered_json strata = ordered_json::array();
  for (const stratum_statistics& stratum : figures.strata) strata.push_back(document_of(stratum));
  ordered_json relations = ordered_json::array();
  for (const relation_statistics& relation : figures.relations) {
    relations.push_back(
        {{"name", relation.name}, {"tuples", relation.tuples}, {"bytes", relation.bytes}, {"set", relation.set}});
  }
  const ordered_json document = {{"backend", figures.backend},
                                 {"fallback_reason", figures.fallback_reason},
                                 {"storage", figures.storage},
                                 {"jobs", figures.jobs},
                                 {"word_size", figures.word_size},
                                 {"wide_values", figures.wide_values},
                                 {"compile_seconds", figures.compile_seconds},
                                 {"load_seconds", figures.load_seconds},
                                 {"evaluate_seconds", figures.evaluate_seconds},
                                 {"write_seconds", figures.write_seconds},
                                 {"total_seconds", figures.total_seconds},
                                 {"loaded_tuples", figures.loaded_tuples},
                                 {"written_tuples", figures.written_tuples},
                                 {"peak_relation_bytes", figures.peak_relation_bytes},
                                 {"peak_process_bytes", figures.peak_process_bytes},
                                 {"dense_columns", figures.dense_columns},
                                 {"pass_seconds", figures.pass_seconds},
                                 {"reordered_versions", figures.reordered_versions},
                                 {"strata", std::move(strata)},
                                 {"relations", std::move(relations)}};
  // Names come from programs and files, whose bytes need not be UTF-8.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gpulog
