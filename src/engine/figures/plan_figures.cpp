#include "engine/figures/plan_figures.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "plan/explain.hpp"
#include "plan/reads.hpp"

namespace gpulog::detail {
namespace {

/// Returns the relations that a stratum reads or derives.
std::set<relation_id> relations_of(const plan::stratum& stratum) {
  std::set<relation_id> relations;
  for_each_version(stratum, [&relations](const plan::rule_version& version) {
    relations.insert(version.head);
    for_each_read(version, [&relations](relation_id read, index_id, bool) { relations.insert(read); });
  });
  return relations;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns whether the operator ends the sequence of tests after an atom.
bool ends_tests(const plan::operation& one) {
  return std::holds_alternative<plan::scan>(one) || std::holds_alternative<plan::match>(one) ||
         std::holds_alternative<plan::generate>(one) || std::holds_alternative<plan::fold_begin>(one) ||
         std::holds_alternative<plan::fold_end>(one);
}

/// @param counted nullptr: rows are unknown
std::vector<operator_statistics> operators_of(const plan::program& plan, const plan::rule_version& version,
                                              const kernels::step_counts* counted) {
  std::vector<operator_statistics> operators;
  for (const plan::explained_operator& one : plan::explain_operators(plan, version)) {
    const std::string text = one.begins_first_match ? "first match: " + one.text : one.text;
    operators.push_back({text, one.depth, one.reads, one.expected, {}, {}});
  }
  if (counted == nullptr) return operators;
  for (std::size_t number = 0; number < operators.size() && number < counted->operators.size(); ++number) {
    const std::uint32_t place = counted->operators[number];
    if (place != kernels::step_counts::no_place) operators[number].rows = counted->counts[place];
  }
  for (std::size_t number = 0; number < operators.size(); ++number) {
    if (!operators[number].reads) continue;
    std::size_t last = number;
    while (last + 1 < operators.size() && !ends_tests(version.operations[last + 1])) ++last;
    operators[number].passed_on = operators[last].rows;
  }
  return operators;
}

/// Returns the strategy of a version whose rows per operator are unknown.
std::string other_strategy(const exec::stratum_statistics& measured, const stratum_statistics& figures, bool in_loop,
                           bool row_wise) {
  if (row_wise) return "row-wise-evaluation";
  for (const std::string& one : measured.strategies) {
    const bool searches = one == "search" || one == "condensation" || one == "row-takeover" || one == "row-products";
    if (in_loop ? searches : one == "row-wise-evaluation" || one == "row-products") return one;
  }
  return figures.backend == "cpu" ? "pipelines" : figures.backend;
}

void add_rule(const plan::reoptimizer& planner, std::size_t stratum, std::size_t number,
              const plan::rule_version& version, const exec::stratum_statistics& measured,
              stratum_statistics& figures) {
  const plan::program& plan = planner.plan();
  const exec::version_statistics& version_figures = measured.versions[number];
  const plan::stratum& planned = plan.strata[stratum];
  const bool is_subsumption = number + planned.subsumptions.size() >= measured.versions.size();
  rule_statistics& rule = figures.rules[number];
  if (version_figures.counted != nullptr && !is_subsumption)
    rule.counted_runs = std::min(version_figures.counted->runs, version_figures.runs);
  const bool is_counted = version_figures.counted != nullptr && version_figures.counted->runs == version_figures.runs;
  rule.location = version.location;
  rule.order = version.order_reason;
  rule.plan = lines_of(plan::explain(plan, version));
  rule.operators =
      operators_of(plan, version, rule.counted_runs != 0 || is_counted ? version_figures.counted.get() : nullptr);
  const bool in_loop = number >= planned.once.versions.size();
  rule.strategy = is_subsumption ? "subsumption"
                  : is_counted   ? "pipelines"
                                 : other_strategy(measured, figures, in_loop, version_figures.row_wise_runs != 0);
  rule.bindings = version_figures.bindings;
  exec::plan_work before;
  const auto& former = planner.former_plans(stratum, number);
  for (std::size_t i = 0; i < former.size() && i < version_figures.former.size(); ++i) {
    const exec::plan_work& until = version_figures.former[i];
    rule.earlier_plans.push_back({lines_of(plan::explain(plan, former[i].version)), until.runs - before.runs,
                                  until.bindings - before.bindings, until.seconds - before.seconds});
    before = until;
  }
}

void add_indexes(const plan::program& plan, const exec::stratum_statistics& measured, stratum_statistics& figures) {
  for (const exec::index_statistics& index : measured.indexes) {
    if (index.refreshes == 0) continue;
    const plan::index& planned = plan.indexes[index.index.value];
    const plan::relation& relation = plan.relations[planned.relation.value];
    index_statistics& made = figures.indexes.emplace_back();
    made.number = index.index.value;
    made.relation = relation.name;
    made.key_columns = planned.key_lengths.empty() ? 0 : planned.key_lengths.back();
    for (const std::uint32_t column : planned.order) made.columns.push_back(relation.attribute_names[column]);
    made.rule = index.version;
    made.refreshes = index.refreshes;
    made.bytes = index.bytes;
    if (!index.is_timed) continue;
    made.seconds = index.seconds;
    if (index.version < figures.rules.size()) figures.rules[index.version].index_seconds += index.seconds;
  }
}

void add_sizes(const plan::program& plan, const plan_record& record, std::size_t number, stratum_statistics& figures) {
  const plan_record::sizes* const reordered = record.reordered(number);
  for (const relation_id relation : relations_of(plan.strata[number])) {
    const plan_record::known_size planned = record.planned(relation);
    size_statistics& size = figures.sizes.emplace_back();
    size.relation = plan.relations[relation.value].name;
    size.planned = planned.rows;
    size.was_counted = planned.is_counted;
    if (reordered != nullptr) size.known_later = reordered->at(relation).rows;
  }
}

}  // namespace

std::vector<const plan::rule_version*> versions_of(const plan::stratum& stratum) {
  std::vector<const plan::rule_version*> versions;
  for_each_version(stratum, [&versions](const plan::rule_version& version) { versions.push_back(&version); });
  return versions;
}

void plan_record::note_planned(const plan::reoptimizer& planner) {
  for (std::uint32_t number = 0; number < planner.plan().relations.size(); ++number)
    planned_.push_back(planner.size_of(relation_id(number)));
}

void plan_record::note_reordered(const plan::reoptimizer& planner, std::size_t stratum) {
  sizes& noted = reordered_[stratum];
  for (const relation_id relation : relations_of(planner.plan().strata[stratum]))
    noted[relation] = planner.size_of(relation);
}

const plan_record::sizes* plan_record::reordered(std::size_t stratum) const {
  const auto found = reordered_.find(stratum);
  return found == reordered_.end() ? nullptr : &found->second;
}

void add_plan_figures(const plan::reoptimizer& planner, const plan_record& record, std::size_t number,
                      const exec::stratum_statistics& measured, stratum_statistics& figures) {
  const std::vector<const plan::rule_version*> versions = versions_of(planner.plan().strata[number]);
  for (std::size_t v = 0; v < figures.rules.size() && v < versions.size(); ++v)
    add_rule(planner, number, v, *versions[v], measured, figures);
  add_indexes(planner.plan(), measured, figures);
  add_sizes(planner.plan(), record, number, figures);
}

void count_index_rules(const plan::program& plan, std::vector<stratum_statistics>& strata, std::size_t first) {
  std::vector<std::set<std::string_view>> locations(plan.indexes.size());
  for (const plan::stratum& stratum : plan.strata) {
    for_each_version(stratum, [&](const plan::rule_version& version) {
      const auto note = [&](relation_id, index_id index, bool) {
        if (index.valid()) locations[index.value].insert(version.location);
      };
      for_each_read(version, note, true);
    });
  }
  for (std::size_t number = first; number < strata.size(); ++number) {
    // An index that no version searches belongs to a decomposed rule.
    for (index_statistics& index : strata[number].indexes)
      index.rules = std::max<std::size_t>(locations[index.number].size(), 1);
  }
}

}  // namespace gpulog::detail
