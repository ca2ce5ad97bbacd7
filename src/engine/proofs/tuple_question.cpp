#include "engine/proofs/tuple_question.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "engine/proofs/tuple_text.hpp"
#include "engine/run_context.hpp"
#include "gpulog/error.hpp"
#include "sema/types/types.hpp"

namespace gpulog::detail {
namespace {

bool is_variable(std::string_view text) {
  if (text.empty() || text == "nil") return false;
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_' || c == '?'; };
  return is_letter(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) { return is_letter(c) || std::isdigit(c) != 0; });
}

}  // namespace

tuple_question::tuple_question(run_context& context, std::string_view text) : context_(&context) {
  for (const std::string_view part : parts_of_tuple(text)) atoms_.push_back(atom_from(part));
  if (atoms_.empty()) throw input_error("There is no tuple in the question, as reach(1, x) is");
  values_.resize(names_.size());
}

tuple_question::atom tuple_question::atom_from(std::string_view text) {
  const written_tuple written = written_tuple_of(*context_, text);
  atom resolved{written.relation, {}};
  const sema::relation& declared = context_->analysed()[written.relation];
  for (std::size_t column = 0; column < written.values.size(); ++column) {
    const sema::attribute& attribute = declared.attributes[column];
    const value_type type{attribute.kind, attribute.structure};
    const std::string_view value = written.values[column];
    argument& own = resolved.arguments.emplace_back();
    if (value == "_") continue;
    if (is_variable(value)) {
      own.variable = variable_named(value, type);
    } else {
      own.constant = value_of_attribute(*context_, value, declared, column);
    }
  }
  return resolved;
}

std::size_t tuple_question::variable_named(std::string_view name, const value_type& type) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    names_.emplace_back(name);
    types_.push_back(type);
    return names_.size() - 1;
  }
  const auto number = static_cast<std::size_t>(found - names_.begin());
  if (types_[number].kind != type.kind || types_[number].structure != type.structure) {
    throw input_error(fmt::format("{} stands for a {} and for a {}", name, sema::kind_name(types_[number].kind),
                                  sema::kind_name(type.kind)));
  }
  return number;
}

tuple_matches tuple_question::answer(stored_relations& stored, std::size_t most) {
  most_ = std::max<std::size_t>(most, 1);
  found_.clear();
  seen_.clear();
  tuples_.clear();
  is_all_ = match(0, stored);
  tuple_matches answer;
  answer.variables = names_;
  answer.is_all = is_all_;
  answer.tuples = tuples_;
  for (const atom& one : atoms_) {
    for (const argument& own : one.arguments) answer.is_ground = answer.is_ground && own.constant.has_value();
  }
  for (const std::vector<word>& match : found_) {
    std::vector<std::string>& texts = answer.values.emplace_back();
    for (std::size_t v = 0; v < match.size(); ++v) texts.push_back(value_text(*context_, match[v], types_[v]));
  }
  return answer;
}

bool tuple_question::note_match() {
  std::vector<word> match;
  for (const auto& value : values_) match.push_back(*value);
  if (seen_.contains(match)) return true;
  if (found_.size() == most_) return false;
  seen_.insert(match);
  found_.push_back(std::move(match));
  return !names_.empty();  // without variables one match suffices
}

bool tuple_question::match(std::size_t number, stored_relations& stored) {
  if (number == atoms_.size()) return note_match();
  const atom& here = atoms_[number];
  if (here.arguments.empty()) {
    if (stored.rows(here.relation) == 0) return true;
    if (atoms_.size() == 1) tuples_.push_back(tuple_text(*context_, here.relation, {}));
    return match(number + 1, stored);
  }
  std::vector<std::uint32_t> columns;
  std::vector<word> key;
  for (std::uint32_t column = 0; column < here.arguments.size(); ++column) {
    const argument& one = here.arguments[column];
    const std::optional<word> known = one.variable == nobody ? one.constant : values_[one.variable];
    if (!known) continue;
    columns.push_back(column);
    key.push_back(*known);
  }
  const auto visit = [&](std::uint64_t row) { return match_row(number, row, stored); };
  if (!columns.empty()) return stored.index(here.relation, columns).for_each(key, visit);
  for (std::uint64_t row = 0; row < stored.rows(here.relation); ++row) {
    if (!visit(row)) return false;
  }
  return true;
}

bool tuple_question::match_row(std::size_t number, std::uint64_t row, stored_relations& stored) {
  check_cancelled();
  const atom& here = atoms_[number];
  const std::vector<const word*>& columns = stored.columns(here.relation);
  std::vector<std::size_t> bound;
  bool fits = true;
  for (std::size_t column = 0; column < here.arguments.size() && fits; ++column) {
    const std::size_t variable = here.arguments[column].variable;
    if (variable == nobody) continue;
    if (values_[variable]) {
      fits = *values_[variable] == columns[column][row];
    } else {
      values_[variable] = columns[column][row];
      bound.push_back(variable);
    }
  }
  const std::size_t before = found_.size();
  const bool goes_on = !fits || match(number + 1, stored);
  if (atoms_.size() == 1 && found_.size() > before) {
    std::vector<word> tuple;
    for (std::size_t column = 0; column < here.arguments.size(); ++column) tuple.push_back(columns[column][row]);
    tuples_.push_back(tuple_text(*context_, here.relation, tuple));
  }
  for (const std::size_t variable : bound) values_[variable].reset();
  return goes_on;
}

void tuple_question::check_cancelled() {
  constexpr std::uint64_t looks_between = 4096;
  if (++looks_ % looks_between != 0) return;
  if (context_->options.cancelled != nullptr && *context_->options.cancelled)
    throw cancelled_error("The run was cancelled");
}

}  // namespace gpulog::detail
