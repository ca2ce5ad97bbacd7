#include "engine/state/stored_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/again/affected.hpp"
#include "engine/rows/result_rows.hpp"
#include "engine/state/state_file.hpp"
#include "engine/state/state_values.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"

namespace gpulog::detail {
namespace {

constexpr const char* index_section = "index";
constexpr std::uint64_t rows_per_part = std::uint64_t{1} << 20;

std::string rows_section(std::uint32_t relation, std::size_t column) {
  return fmt::format("rows {} {}", relation, column);
}
std::string facts_section(std::uint32_t relation, std::size_t column) {
  return fmt::format("facts {} {}", relation, column);
}

std::string_view row_bytes(const word* words, std::uint64_t count) {
  return {reinterpret_cast<const char*>(words), static_cast<std::size_t>(count * sizeof(word))};
}

/// The description of the sections of a state file.
struct state_index {
  struct relation {
    std::uint64_t rows = 0;
    bool is_complete = false;
    std::uint64_t facts = 0;   ///< given facts of a relation with rules
    bool has_columns = false;  ///< false: only the number of rows is stored
    double seconds = 0;        ///< of the relation's evaluation
  };
  state_identity identity;
  std::vector<input_version> inputs;
  std::vector<relation> relations;
  value_counts values;
  std::uint64_t counter = 0;
  deletion_regret regret;
};

nlohmann::json json_of(const state_index& index) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const input_version& one : index.inputs) inputs.push_back({one.relation, one.content});
  nlohmann::json relations = nlohmann::json::array();
  for (const state_index::relation& one : index.relations)
    relations.push_back({one.rows, one.is_complete, one.facts, one.has_columns, one.seconds});
  return {{"identity", index.identity},      {"inputs", inputs},
          {"relations", relations},          {"symbols", index.values.symbols},
          {"records", index.values.records}, {"wide", index.values.wide},
          {"counter", index.counter},        {"regret", {index.regret.factor, index.regret.seconds_anew}}};
}

state_index index_of(const nlohmann::json& from) {
  state_index index;
  from.at("identity").get_to(index.identity);
  for (const auto& one : from.at("inputs"))
    index.inputs.push_back({one.at(0).get<std::uint32_t>(), one.at(1).get<std::string>()});
  for (const auto& one : from.at("relations")) {
    index.relations.push_back({one.at(0).get<std::uint64_t>(), one.at(1).get<bool>(), one.at(2).get<std::uint64_t>(),
                               one.at(3).get<bool>(), one.at(4).get<double>()});
  }
  from.at("symbols").get_to(index.values.symbols);
  from.at("records").get_to(index.values.records);
  from.at("wide").get_to(index.values.wide);
  from.at("counter").get_to(index.counter);
  from.at("regret").at(0).get_to(index.regret.factor);
  from.at("regret").at(1).get_to(index.regret.seconds_anew);
  return index;
}

state_index read_index(const state_file& file) {
  file.verify({index_section}, 1);
  try {
    return index_of(nlohmann::json::parse(file.section(index_section)));
  } catch (const nlohmann::json::exception&) {
    throw unusable_state("it is damaged");
  }
}

/// Returns the relations whose fact files do not have the stored content.
std::vector<bool> changed_relations(const std::vector<input_version>& stored, const std::vector<input_version>& now,
                                    std::size_t relations) {
  std::vector<bool> changed(relations);
  for (std::size_t number = 0; number < now.size(); ++number) {
    const bool is_same =
        number < stored.size() && !now[number].content.empty() && now[number].content == stored[number].content;
    if (!is_same) changed[now[number].relation] = true;
  }
  return changed;
}

/// Returns whether outputs have the rows of the relation.
bool has_written_rows(const sema::relation& relation) {
  return relation.is_query || relation.has_directive(sema::directive_kind::output);
}

/// The columns of a relation, in the mapped file.
std::vector<const word*> columns_in(const state_file& file, std::string (*name)(std::uint32_t, std::size_t),
                                    std::uint32_t relation, std::size_t arity) {
  std::vector<const word*> columns;
  for (std::size_t c = 0; c < arity; ++c)
    columns.push_back(reinterpret_cast<const word*>(file.section(name(relation, c)).data()));
  return columns;
}

row_view view_of(const staged_rows& block) { return {block.pointers(), block.rows}; }

/// Adds rows of a relation to the stored columns of its first rows.
/// @return false without any effect if there is no room
[[nodiscard]] bool extend_rows(const evaluations& results, std::uint32_t relation, std::uint64_t first,
                               state_file_writer& file) {
  const std::uint64_t rows = results.rows(relation) - first;
  if (!file.can_extend(rows_section(relation, 0), rows * sizeof(word))) return false;
  std::vector<const word*> columns;
  if (rows > 0) columns = results.columns_of(relation);
  for (std::size_t c = 0; file.can_extend(rows_section(relation, c), rows * sizeof(word)); ++c) {
    const std::size_t section = file.extend(rows_section(relation, c), rows * sizeof(word));
    if (rows > 0) file.append(section, row_bytes(columns[c] + first, rows));
  }
  return true;
}

/// Writes the columns of a relation. Copies at most `rows_per_part` rows at a time.
void save_rows(const result_rows& rows, std::uint32_t relation, std::size_t arity, backend::memory_resource& memory,
               state_file_writer& file) {
  std::vector<std::size_t> sections;
  for (std::size_t c = 0; c < arity; ++c)
    sections.push_back(file.reserve(rows_section(relation, c), rows.rows * sizeof(word)));
  if (!rows.read) {
    for (std::size_t c = 0; c < arity; ++c) file.append(sections[c], row_bytes(rows.columns[c], rows.rows));
    return;
  }
  std::vector<backend::array<word>> parts;
  std::vector<word*> pointers;
  for (std::size_t c = 0; c < arity; ++c)
    pointers.push_back(parts.emplace_back(memory, std::min(rows.rows, rows_per_part)).data());
  for (std::uint64_t first = 0; first < rows.rows; first += rows_per_part) {
    const std::uint64_t n = std::min(rows_per_part, rows.rows - first);
    rows.read(first, n, pointers.data());
    for (std::size_t c = 0; c < arity; ++c) file.append(sections[c], row_bytes(pointers[c], n));
  }
}

}  // namespace

void stored_results::reset() {
  inputs_.reset();
  changed_.clear();
  has_changed_files_ = false;
  before_.reset();
}

void stored_results::restore(const std::filesystem::path& path, bool only_outputs) {
  if (results_.has_begun() || facts_.rows() != 0) throw unusable_state("the engine has facts already");
  const auto file = std::make_shared<const state_file>(path);
  const state_index index = read_index(*file);
  const std::size_t count = run_.analysed().relations.size();
  if (const std::string reason = why_different(index.identity, identity_of(run_)); !reason.empty())
    throw unusable_state(reason);
  if (index.relations.size() != count) throw unusable_state("it is damaged");
  if (!inputs_) note_files();
  std::vector<bool> changed = changed_relations(index.inputs, *inputs_, count);
  if (const std::string reason = why_from_scratch(run_, changed); !reason.empty()) throw unusable_state(reason);

  const bool is_everything_read = !only_outputs || is_any(changed) || run_.options.proofs;
  std::vector<std::string> sections = sections_of_values(index.values);
  std::vector<stored_relation> relations(count);
  std::vector<double> seconds;
  std::vector<std::vector<const word*>> facts(count);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::size_t arity = run_.relation(number).attributes.size();
    const auto& [rows, is_complete, kept, has_columns, time] = index.relations[number];
    relations[number] = {rows, has_columns || arity == 0, is_complete, {}};
    seconds.push_back(time);
    if (is_plain_input(run_.relation(number)) && changed[number] && !is_complete)
      throw unusable_state(fmt::format("it lacks facts of relation {}", run_.relation(number).name));
    if (has_columns) relations[number].columns = columns_in(*file, rows_section, number, arity);
    if (kept > 0) facts[number] = columns_in(*file, facts_section, number, arity);
    for (std::size_t c = 0; c < arity; ++c) {
      if (has_columns && (is_everything_read || has_written_rows(run_.relation(number))))
        sections.push_back(rows_section(number, c));
      if (kept > 0 && is_everything_read) sections.push_back(facts_section(number, c));
    }
  }
  file->verify(sections, run_.options.jobs);
  restore_values(*file, index.values, run_.values);

  run_.values.counter = index.counter;
  before_ = std::make_shared<stored_evaluation>(run_, file, std::move(relations));
  results_.restore(before_, std::move(seconds), index.regret);
  has_changed_files_ = is_any(changed);
  changed_ = std::move(changed);
  for (std::uint32_t number = 0; number < count; ++number) {
    if (!changed_[number]) files_.skip(number);
    if (!is_everything_read || index.relations[number].facts == 0) continue;
    staged_rows block;
    block.rows = index.relations[number].facts;
    for (const word* const column : facts[number])
      std::copy_n(column, block.rows, block.columns.emplace_back(run_.values.memory, block.rows).data());
    facts_.keep(number, std::move(block));
  }
}

void stored_results::stage_changes() {
  const std::vector<bool> changed = std::exchange(changed_, {});
  for (std::uint32_t number = 0; number < changed.size(); ++number) {
    if (changed[number]) stage_changes_of(number);
  }
}

void stored_results::stage_changes_of(std::uint32_t number) {
  backend::memory_resource& memory = run_.values.memory;
  const std::size_t arity = run_.relation(number).attributes.size();
  std::vector<staged_rows> read = facts_.take(number);
  staged_rows in_text;
  for (const sema::fact& fact : run_.analysed().facts) {
    if (fact.relation.value == number) append_row(in_text, run_.values.row_of(fact), memory);
  }
  if (in_text.rows > 0) read.push_back(std::move(in_text));
  const staged_rows now = joined(std::move(read), arity, memory);
  staged_rows kept;
  row_view before = rows_before(number);
  if (!is_plain_input(run_.relation(number))) {
    kept = joined(facts_.take_kept(number), arity, memory);
    before = view_of(kept);
  }
  auto [added, removed] = difference_of(before, view_of(now), false, memory);
  if (kept.rows > 0) facts_.keep(number, std::move(kept));
  if (removed.rows > 0) facts_.erase(number, removed, false);
  if (added.rows > 0) facts_.stage(number, std::move(added));
}

row_view stored_results::rows_before(std::uint32_t relation) const {
  if (!before_) return {std::vector<const word*>(run_.relation(relation).attributes.size()), 0};
  exec::executor& rows = before_->executor();
  row_view result{rows.columns(relation_id(relation)), rows.rows(relation_id(relation))};
  result.columns.resize(run_.relation(relation).attributes.size());
  return result;
}

/// Selects the relations that are stored. Inputs and outputs always are: reading and writing files of facts takes
/// longer. A stratum of intermediate relations is stored if storing adds little to the time of its evaluation, or if
/// all such strata up to its size are small, because a recursion that reads a relation without rows cannot continue.
/// The remaining strata are evaluated again when a changed stratum reads their tuples.
std::vector<bool> stored_results::stored_relations() const {
  using namespace exec::calibration;
  const std::size_t count = run_.analysed().relations.size();
  std::vector<bool> stored(count, true);
  if (!run_.tuned.planning.modes.is_always("unneeded-relations") || run_.options.proofs) return stored;
  struct storing {
    const sema::stratum* stratum;
    double bytes;
  };
  std::vector<storing> waiting;
  double all_seconds = 0;
  for (const sema::stratum& stratum : run_.analysed().strata) {
    double bytes = 0;
    double seconds = 0;
    for (const relation_id member : stratum.relations) {
      const sema::relation& relation = run_.analysed()[member];
      seconds += results_.seconds_of(member.value);
      if (relation.rules.empty() || has_written_rows(relation)) continue;
      bytes += static_cast<double>(results_.rows(member.value) * relation.attributes.size() * sizeof(word));
    }
    all_seconds += seconds;
    if (bytes > seconds * stored_bytes_per_second * most_storing_share) waiting.push_back({&stratum, bytes});
  }
  std::sort(waiting.begin(), waiting.end(), [](const storing& a, const storing& b) { return a.bytes < b.bytes; });
  double left = std::max(least_stored_bytes, all_seconds * stored_bytes_per_second * small_storing_share);
  for (const auto& [stratum, bytes] : waiting) {
    left -= bytes;
    for (const relation_id member : stratum->relations) {
      const sema::relation& relation = run_.analysed()[member];
      stored[member.value] = left >= 0 || relation.rules.empty() || has_written_rows(relation);
    }
  }
  return stored;
}

void stored_results::save(const std::filesystem::path& path) const {
  if (!results_.has_results()) throw input_error("nothing can be stored before the program is evaluated");
  if (run_.source->symbols_of != nullptr)
    throw input_error("results cannot be stored after a query or a change of the program");
  state_index index;
  index.identity = identity_of(run_);
  index.inputs = inputs_ ? *inputs_ : input_versions_of(run_);
  if (!inputs_ && files_.have_changed()) {
    for (input_version& one : index.inputs) one.content.clear();
  }
  index.counter = run_.values.counter;
  index.regret = results_.regret();
  const std::vector<bool> is_stored = stored_relations();
  const state_file* const base = before_ && before_->file().may_grow(path) ? &before_->file() : nullptr;
  std::optional<state_index> earlier;
  if (base != nullptr) earlier = read_index(*base);
  state_file_writer file(path, base);
  for (std::uint32_t number = 0; number < run_.analysed().relations.size(); ++number) {
    const sema::relation& relation = run_.relation(number);
    state_index::relation& stored = index.relations.emplace_back();
    if (!results_.has_results_of(number)) continue;
    if (run_.needed[number] && (facts_.rows(number) != 0 || facts_.has_erased(number)))
      throw input_error("facts have changed since the evaluation");
    stored.rows = results_.rows(number);
    stored.seconds = results_.seconds_of(number);
    stored.is_complete = results_.is_complete(relation_id(number)) && is_stored[number];
    stored.has_columns = stored.rows > 0 && (stored.is_complete || has_written_rows(relation));
    const bool extends =
        base != nullptr && earlier->relations[number].has_columns && results_.extends(*before_, number);
    if (stored.has_columns && !(extends && extend_rows(results_, number, earlier->relations[number].rows, file))) {
      save_rows(result_rows_of(number, run_, results_), number, relation.attributes.size(), run_.values.memory, file);
    }
    for (const staged_rows& block : facts_.kept(number)) stored.facts += block.rows;
    for (std::size_t c = 0; c < relation.attributes.size() && stored.facts > 0; ++c) {
      const std::size_t section = file.reserve(facts_section(number, c), stored.facts * sizeof(word));
      for (const staged_rows& block : facts_.kept(number))
        file.append(section, row_bytes(block.columns[c].data(), block.rows));
    }
  }
  // Reading results may add values.
  index.values = save_values(run_.values, base != nullptr ? &earlier->values : nullptr, file);
  file.add(index_section, json_of(index).dump());
  file.commit();
}

}  // namespace gpulog::detail
