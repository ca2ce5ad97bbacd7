#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "exec/fixpoint/pipeline_builder.hpp"
#include "kernels/join/pipeline.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

/// A subsumption of the plan, ready to run on pairs of rows (tile_runner::run_pairs).
struct bound_subsumption {
  std::vector<std::uint32_t> key_columns;
  std::vector<relation_id> changing;  ///< see plan::subsumption
  kernels::pipeline pipeline;
};

/// The context of a stratum's pipelines.
struct pipeline_context {
  const plan::program& program;
  const std::vector<index_place>& places;
  const options& chosen;
  storage::symbol_table* symbols;
  std::atomic<wide_word>* counter;
  const word* iteration;
};

/// The subsumptions of a stratum, by relation, with their statistics.
template <class Machine>
class stratum_subsumptions {
 public:
  using relations = kernels::relation_list<typename Machine::relation>;

  /// Appends the statistics of each subsumption to the stratum's statistics.
  stratum_subsumptions(Machine& machine, const pipeline_context& context, const plan::stratum& stratum,
                       relations& relations_of_program, stratum_statistics& figures) {
    std::vector<std::vector<bound_subsumption>> bound;
    for (const plan::subsumption& planned : stratum.subsumptions) {
      auto own = std::find_if(running_.begin(), running_.end(),
                              [&](const auto& other) { return other.first->relation == planned.relation; });
      if (own == running_.end()) {
        running_.push_back({&planned, nullptr, {}});
        bound.emplace_back();
        own = running_.end() - 1;
      }
      own->figures.push_back(figures.versions.size());
      version_statistics& measured = figures.versions.emplace_back();
      measured.rule = planned.version.rule;
      measured.text = planned.version.text;
      bound[static_cast<std::size_t>(own - running_.begin())].push_back(bind(context, planned));
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      running_[i].runner = machine.make_subsumptions(relations_of_program, running_[i].first->relation.value,
                                                     std::move(bound[i]), context.chosen.stop);
    }
  }

  /// Calls action(runner) for each relation. guard(plan::subsumption, f) runs f and converts faults into messages.
  template <class Guard, class Action>
  void run(stratum_statistics& figures, const Guard& guard, const Action& action) {
    for (auto& one : running_) {
      const double start = storage::seconds_now();
      guard(*one.first, [&] { action(*one.runner); });
      for (std::size_t number = 0; number < one.figures.size(); ++number) {
        version_statistics& measured = figures.versions[one.figures[number]];
        ++measured.runs;
        measured.candidates = one.runner->pairs(number);
        measured.tuples = one.runner->removed(number);
      }
      // The subsumptions of a relation run together; the first has the total time.
      const double seconds = storage::seconds_now() - start;
      figures.versions[one.figures.front()].seconds += seconds;
      figures.join_seconds += seconds;
    }
  }

 private:
  struct running {
    const plan::subsumption* first;
    std::unique_ptr<typename Machine::subsumptions> runner;
    std::vector<std::size_t> figures;  // by subsumption: index in stratum_statistics::versions
  };

  /// Adds a slot with the number of the pair, which replaces the head.
  static bound_subsumption bind(const pipeline_context& context, const plan::subsumption& planned) {
    plan::rule_version numbered = planned.version;
    const slot_id number(numbered.slot_count++);
    numbered.operations.emplace_back(plan::insert{planned.relation, {plan::operand::slot(number)}});
    bound_subsumption made{planned.key_columns, planned.changing,
                           build_pipeline(numbered, context.program, context.places, context.chosen.storage,
                                          {context.symbols, context.chosen.records, context.chosen.wide})};
    made.pipeline.counter = context.counter;
    made.pipeline.iteration = context.iteration;
    made.pipeline.functors = context.chosen.functors;
    return made;
  }

  std::vector<running> running_;
};

/// For machines without subsumption; such a stratum must not have any.
struct no_subsumptions {
  template <class Machine, class Relations>
  no_subsumptions(Machine& /*machine*/, const pipeline_context& /*context*/, const plan::stratum& stratum,
                  Relations& /*relations*/, stratum_statistics& /*figures*/) {
    gpulog::ensure(stratum.subsumptions.empty(), "a machine without subsumption is given a stratum with one");
  }
  template <class Guard, class Action>
  void run(stratum_statistics& /*figures*/, const Guard& /*guard*/, const Action& /*action*/) {}
};

template <class Machine>
using subsumptions_on =
    std::conditional_t<Machine::abilities.subsumptions, stratum_subsumptions<Machine>, no_subsumptions>;

}  // namespace gpulog::exec
