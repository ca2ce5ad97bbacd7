#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/again/program_changes.hpp"
#include "engine/engine_state.hpp"
#include "engine/proofs/proof_search.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"

/// Replaces the program of an engine (docs/adr/0050-another-program.md).
namespace gpulog::detail {
namespace {

bool have_changed(const std::map<std::filesystem::path, std::optional<file_version>>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return version_of(file.first) != file.second; });
}

}  // namespace

std::optional<file_version> version_of(const std::filesystem::path& path) {
  std::error_code problem;
  file_version found;
  found.written = std::filesystem::last_write_time(path, problem);
  if (!problem) found.bytes = std::filesystem::file_size(path, problem);
  return problem ? std::nullopt : std::optional(found);
}

bool engine_state::change_program(std::shared_ptr<const program_state> next) {
  require_changes();
  if (!next->analysed) throw input_error("the program was rejected:\n" + next->report);
  if (next->symbols_of != this) throw input_error("the program was not read for this engine");
  if (!extends(*next->analysed, analysed()) || have_changed(files_read)) return false;
  const step before = done.exchange(step::failed);
  try {
    take_program(std::move(next));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("taking another program", fault, memory);
  }
  done = before;
  return true;
}

void engine_state::take_program(std::shared_ptr<const program_state> next) {
  const sema::program& program = *next->analysed;
  const std::vector<bool> is_same = with_same_rules(program, analysed());
  renewal.reset();
  const exec::run_monitor::holding held(monitor);
  monitor.begin_run();
  proofs.reset();
  waiting.clear();
  const std::size_t facts_before = analysed().facts.size();
  const std::size_t relations = program.relations.size();
  if (!homes.empty()) {
    for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
      // Facts can no longer be distinguished from derived rows.
      if (!is_same[number] && is_plain_input(analysed().relations[number]) &&
          !is_plain_input(program.relations[number]) && homes[number]) {
        staged_facts inserted(1);
        inserted.front().swap(staged[number]);
        stage_results_of(number);
        kept[number] = std::exchange(staged[number], std::move(inserted.front()));
      }
      if (!is_same[number]) stale[number] = true;
      if (analysed().relations[number].is_query) forget_query(number);
    }
    homes.resize(relations);
  }
  source = std::move(next);
  for (auto* const facts : {&staged, &kept}) facts->resize(relations);
  erased.resize(relations);
  loaded.resize(relations);
  stale.resize(relations);
  if (continuing) {
    for (auto* const chosen :
         {&continuing->continued->changed, &continuing->continued->growing, &continuing->continued->held})
      chosen->resize(relations);
  }
  reads_files_once = true;
  needed = needed_now();
  functors.reset();
  find_functors();
  prepare_outputs();
  // The first evaluation reads the facts of its program itself.
  for (std::size_t number = facts_before; !homes.empty() && number < program.facts.size(); ++number)
    stage(program.facts[number].relation.value, row_of(program.facts[number]));
  begin_figures();
  begin_record();
}

/// Clears the relation of a query, whose number is reused.
void engine_state::forget_query(std::uint32_t relation) {
  homes[relation].reset();
  row_indexes.erase(relation);
  classes.erase(relation);
  staged[relation].clear();
  kept[relation].clear();
  erased[relation] = {};
  loaded[relation] = false;
}

}  // namespace gpulog::detail

namespace gpulog {

bool engine::change_program(const program& next) { return state_->change_program(next.state()); }

}  // namespace gpulog
