#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/device_step.hpp"
#include "storage/indexes/key_level.hpp"

/// A rule version in the form for kernels with nested loops (nested.cuh).
namespace gpulog::kernels::gpu {

using storage::row_range;

/// Maximum number of inner atoms; rules with more atoms run in steps.
constexpr std::uint32_t most_levels = 8;

/// One of several alternative searches for the values of an atom (kernels::search_choice).
template <class Run, class Set>
struct nested_choice {
  const Run* runs = nullptr;
  std::uint32_t run_count = 0;
  const register_number* keys = nullptr;
  device_binding bound;
  const device_step<Run, Set>* checks = nullptr;  ///< semi-joins with the relations of the remaining searches
  std::uint32_t check_count = 0;
};

/// An inner atom and the steps after it.
template <class Run, class Set>
struct nested_level {
  /// Alternative searches, of which each binding uses the search with the fewest rows; replaces `runs`.
  const nested_choice<Run, Set>* choices = nullptr;
  std::uint32_t choice_count = 0;
  const Run* runs = nullptr;  ///< for a product, one run without rows
  std::uint32_t run_count = 0;
  const register_number* keys = nullptr;  ///< null: a product with `whole`
  row_range whole;
  const device_binding* bindings = nullptr;
  std::uint32_t binding_count = 0;
  const device_step<Run, Set>* steps = nullptr;
  std::uint32_t step_count = 0;
  /// A binding that passes this level needs no further row of the levels from this level on; most_levels: no effect.
  std::uint32_t first_match_from = most_levels;
  std::uint32_t first_match_steps = 0;  ///< how many steps belong to the first match; the others follow it
};

template <class Run, class Set>
struct nested_body {
  const device_binding* outer = nullptr;  ///< registers of the outer rows
  std::uint32_t outer_count = 0;
  std::uint64_t first_row = 0;  ///< of the outer columns
  std::uint64_t rows = 0;
  const device_step<Run, Set>* steps = nullptr;  ///< after the outer rows
  std::uint32_t step_count = 0;
  const nested_level<Run, Set>* levels = nullptr;
  std::uint32_t level_count = 0;
  const word* constants = nullptr;
  std::uint32_t constant_count = 0;
  std::uint32_t slot_count = 0;
  const register_number* outputs = nullptr;  ///< the head
  std::uint32_t output_count = 0;
};

/// Returns whether a pipeline consists only of atoms and device steps, within the size limits.
[[nodiscard]] inline bool is_nest(const pipeline& program) {
  if (program.segments.size() > most_levels) return false;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const segment& one = program.segments[s];
    const bool is_atom = one.kind == expansion_kind::match || one.kind == expansion_kind::scan;
    if (one.ended_fold != 0 || (!is_atom && (s != 0 || one.kind != expansion_kind::unit))) return false;
  }
  return true;
}

/// Converts segments [begin, end) of a pipeline, all atoms, to loops.
/// @param put copies a vector to the device
/// @param steps_of converts steps
/// @param stored whether bindings of a match are numbers of stored columns
template <class Run, class Set, class Relations, class Put, class StepsOf>
[[nodiscard]] std::vector<nested_level<Run, Set>> nested_levels_of(const pipeline& program, std::size_t begin,
                                                                   std::size_t end, const Relations& relations,
                                                                   bool stored, const Put& put,
                                                                   const StepsOf& steps_of) {
  std::vector<nested_level<Run, Set>> levels;
  for (std::size_t s = begin; s < end; ++s) {
    const segment& here = program.segments[s];
    const auto& source = *relations[here.source];
    nested_level<Run, Set>& level = levels.emplace_back();
    std::vector<device_binding> bindings;
    std::vector<Run> runs(1);
    if (!here.choices.empty()) {
      std::vector<nested_choice<Run, Set>> choices;
      for (const search_choice& choice : here.choices) {
        nested_choice<Run, Set>& made = choices.emplace_back();
        const std::vector<Run> views = relations[choice.source]->index(choice.index).views(true, true, choice.level);
        made.runs = put(views);
        made.run_count = static_cast<std::uint32_t>(views.size());
        made.keys = put(choice.keys);
        made.bound = {choice.bound.target, nullptr, choice.bound.column};
        const std::vector<device_step<Run, Set>> checks = steps_of(choice.checks);
        made.checks = put(checks);
        made.check_count = static_cast<std::uint32_t>(checks.size());
      }
      level.choices = put(choices);
      level.choice_count = static_cast<std::uint32_t>(choices.size());
      runs.clear();
    } else if (here.kind == expansion_kind::match) {
      runs = source.index(here.index).views(here.part != row_part::delta, here.part != row_part::old, here.level);
      level.keys = put(here.keys);
      for (const binding& bound : here.bindings) {
        bindings.push_back(stored ? device_binding{bound.target, nullptr, bound.column}
                                  : device_binding{bound.target, source.column(bound.column), 0});
      }
    } else {
      const part_rows part = rows_of(source, here.part);
      level.whole = {static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end - part.begin)};
      for (const binding& bound : here.bindings) bindings.push_back({bound.target, source.column(bound.column), 0});
    }
    if (here.first_match_from && *here.first_match_from >= begin) {
      level.first_match_from = static_cast<std::uint32_t>(*here.first_match_from - begin);
    }
    level.first_match_steps = static_cast<std::uint32_t>(here.first_match_steps);
    level.run_count = static_cast<std::uint32_t>(runs.size());
    level.runs = put(runs);
    level.bindings = put(bindings);
    level.binding_count = static_cast<std::uint32_t>(bindings.size());
    const std::vector<device_step<Run, Set>> steps = steps_of(here.steps);
    level.steps = put(steps);
    level.step_count = static_cast<std::uint32_t>(steps.size());
  }
  return levels;
}

/// Converts a pipeline that is_nest() to loops. Parameters as above.
template <class Run, class Set, class Relations, class Put, class StepsOf>
[[nodiscard]] nested_body<Run, Set> nested_body_of(const pipeline& program, const Relations& relations, bool stored,
                                                   const Put& put, const StepsOf& steps_of) {
  nested_body<Run, Set> body;
  body.rows = 1;
  body.slot_count = program.slot_count;
  body.constants = put(program.constants);
  body.constant_count = static_cast<std::uint32_t>(program.constants.size());
  body.outputs = put(program.head);
  body.output_count = static_cast<std::uint32_t>(program.head.size());
  const segment& first = program.segments.front();
  if (first.kind != expansion_kind::match) {
    const std::vector<device_step<Run, Set>> steps = steps_of(first.steps);
    body.steps = put(steps);
    body.step_count = static_cast<std::uint32_t>(steps.size());
  }
  if (first.kind == expansion_kind::scan) {
    const auto& source = *relations[first.source];
    const part_rows part = rows_of(source, first.part);
    body.first_row = part.begin;
    body.rows = part.end - part.begin;
    std::vector<device_binding> outer;
    for (const binding& bound : first.bindings) outer.push_back({bound.target, source.column(bound.column), 0});
    body.outer = put(outer);
    body.outer_count = static_cast<std::uint32_t>(outer.size());
  }
  const std::size_t behind = first.kind == expansion_kind::match ? 0 : 1;
  const std::vector<nested_level<Run, Set>> levels =
      nested_levels_of<Run, Set>(program, behind, program.segments.size(), relations, stored, put, steps_of);
  body.levels = put(levels);
  body.level_count = static_cast<std::uint32_t>(levels.size());
  return body;
}

/// Returns whether an atom pairs with more rows than a 32-bit position can address.
template <class Relations>
[[nodiscard]] bool has_wide_product(const pipeline& program, const Relations& relations) {
  for (std::size_t s = 1; s < program.segments.size(); ++s) {
    const segment& one = program.segments[s];
    if (one.kind == expansion_kind::scan && relations[one.source]->rows() > UINT32_MAX) return true;
  }
  return false;
}

}  // namespace gpulog::kernels::gpu
