#include "gpulog/statistics.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "gpulog/options.hpp"

namespace gpulog {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json document_of(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json document_of(const operator_statistics& one) {
  ordered_json document = {{"operator", one.text}, {"depth", one.depth}};
  if (one.expected) document["expected"] = *one.expected;
  if (one.rows) document["rows"] = *one.rows;
  if (one.passed_on) document["passed_on"] = *one.passed_on;
  return document;
}

ordered_json document_of(const index_statistics& index) {
  return {{"number", index.number},       {"relation", index.relation},
          {"columns", index.columns},     {"key_columns", index.key_columns},
          {"rules", index.rules},         {"rule", index.rule},
          {"refreshes", index.refreshes}, {"seconds", document_of(index.seconds)},
          {"bytes", index.bytes}};
}

ordered_json document_of(const size_statistics& size) {
  return {{"relation", size.relation},
          {"planned", size.planned},
          {"was_counted", size.was_counted},
          {"known_later", document_of(size.known_later)}};
}

ordered_json document_of(const earlier_plan& one) {
  return {{"plan", one.plan}, {"runs", one.runs}, {"bindings", one.bindings}, {"seconds", one.seconds}};
}

ordered_json document_of(const rule_statistics& rule);

template <class Part>
ordered_json list_of(const std::vector<Part>& parts) {
  ordered_json list = ordered_json::array();
  for (const Part& part : parts) list.push_back(document_of(part));
  return list;
}

ordered_json document_of(const rule_statistics& rule) {
  return {{"rule", rule.rule},
          {"location", rule.location},
          {"delta_atom", rule.delta_atom},
          {"runs", rule.runs},
          {"candidates", rule.candidates},
          {"tuples", rule.tuples},
          {"seconds", rule.seconds},
          {"row_wise_runs", rule.row_wise_runs},
          {"counted_runs", rule.counted_runs},
          {"wraps_around", rule.wraps_around},
          {"plan", rule.plan},
          {"strategy", rule.strategy},
          {"index_seconds", rule.index_seconds},
          {"order", rule.order},
          {"operators", list_of(rule.operators)},
          {"bindings", rule.bindings},
          {"earlier_plans", list_of(rule.earlier_plans)}};
}

ordered_json document_of(const run_step& step) {
  ordered_json document = {{"phase", step.phase},    {"doing", step.doing}, {"relation", step.relation},
                           {"file", step.file},      {"rule", step.rule},   {"location", step.location},
                           {"seconds", step.seconds}};
  if (step.stratum) {
    document["stratum"] = *step.stratum;
    document["relations"] = step.relations;
    document["iteration"] = step.iteration;
  }
  return document;
}

ordered_json document_of(const outcome_statistics& outcome) {
  return {{"state", outcome.state},
          {"message", outcome.message},
          {"step", outcome.step ? document_of(*outcome.step) : ordered_json()}};
}

/// Converts each part with `make` into one JSON object.
template <class Part, class Make>
ordered_json list_of(const std::vector<Part>& parts, const Make& make) {
  ordered_json list = ordered_json::array();
  for (const Part& part : parts) list.push_back(make(part));
  return list;
}

ordered_json document_of(const span_statistics& span) {
  return {{"name", span.name},
          {"subject", span.subject},
          {"begin", span.begin},
          {"seconds", span.seconds},
          {"is_complete", span.is_complete}};
}

ordered_json document_of(const file_statistics& file) {
  return {{"relation", file.relation}, {"file", file.file},   {"is_output", file.is_output},
          {"rows", file.rows},         {"bytes", file.bytes}, {"seconds", file.seconds}};
}

ordered_json document_of(const stratum_statistics& stratum) {
  ordered_json phases = ordered_json::array();
  for (const phase_statistics& phase : stratum.phases) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  return {{"relations", stratum.relations},
          {"recursive", stratum.recursive},
          {"backend", stratum.backend},
          {"reason", stratum.reason},
          {"strategies", stratum.strategies},
          {"continued", stratum.continued},
          {"is_complete", stratum.is_complete},
          {"begin", stratum.begin},
          {"iterations", stratum.iterations},
          {"iterations_before_move", document_of(stratum.iterations_before_move)},
          {"tail_iterations", stratum.tail_iterations},
          {"looped_iterations", stratum.looped_iterations},
          {"rows_taken_over", stratum.rows_taken_over},
          {"search_numbers", stratum.search_numbers},
          {"seconds", stratum.seconds},
          {"deltas", list_of(stratum.deltas,
                             [](const iteration_statistics& one) {
                               return ordered_json::array({one.iterations, one.delta, one.seconds});
                             })},
          {"phases", std::move(phases)},
          {"rules", list_of(stratum.rules)},
          {"indexes", list_of(stratum.indexes)},
          {"sizes", list_of(stratum.sizes)}};
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
  const auto document_of_part = [](const auto& part) { return document_of(part); };
  ordered_json document = {
      {"schema_version", statistics::schema_version},
      {"gpulog", version()},
      {"outcome", document_of(figures.outcome)},
      {"program", figures.program},
      {"options", figures.options},
      {"machine", figures.machine},
      {"spans", list_of(figures.spans, document_of_part)},
      {"files", list_of(figures.files, document_of_part)},
      {"samples",
       list_of(
           figures.samples,
           [](const resource_sample& one) {
             return ordered_json::array({one.seconds, one.processor_seconds, one.process_bytes, one.relation_bytes});
           })},
      {"backend", figures.backend},
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
      {"peak_spilled_bytes", figures.peak_spilled_bytes},
      {"peak_process_bytes", figures.peak_process_bytes},
      {"dense_columns", figures.dense_columns},
      {"pass_seconds", figures.pass_seconds},
      {"reordered_versions", figures.reordered_versions},
      {"stratum_count", figures.stratum_count},
      {"strata", std::move(strata)},
      {"relations", std::move(relations)},
      {"sources", list_of(figures.sources, [](const source_statistics& one) {
         return ordered_json{{"path", one.path}, {"text", one.text}};
       })}};
  if (figures.ranks.count > 1) {
    document["ranks"] = {{"count", figures.ranks.count},
                         {"sent_bytes", figures.ranks.sent_bytes},
                         {"received_bytes", figures.ranks.received_bytes},
                         {"waiting_seconds", figures.ranks.waiting_seconds}};
  }
  // Names come from programs and files, which are not necessarily UTF-8.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gpulog
