#include "oracle/naive_evaluator.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

#include "oracle/naive_rule.hpp"
#include "oracle/naive_values.hpp"

namespace gpulog::oracle {

namespace {

std::string printed(const database& data, value_kind kind, wide_word value) {
  const word_format format(data.words());
  switch (kind) {
    case value_kind::unsigned_number:
      return std::to_string(value);
    case value_kind::symbol:
      return data.text(value);
    case value_kind::floating: {
      char buffer[64];
      std::snprintf(buffer, sizeof buffer, data.words() == word_size::bits64 ? "%.17g" : "%.9g",
                    format.to_float(value));
      return buffer;
    }
    default:
      return std::to_string(format.to_signed(value));
  }
}

}  // namespace

database::database(const sema::program& program) : words_(program.words), relations_(program.relations.size()) {
  for (const std::string& text : program.symbols) static_cast<void>(intern(text));
}

wide_word database::intern(const std::string& text) {
  const auto [position, inserted] = numbers_.emplace(text, static_cast<wide_word>(symbols_.size()));
  if (inserted) symbols_.push_back(text);
  return position->second;
}

wide_word database::record(const tuple& fields) {
  const auto [position, inserted] = record_numbers_.emplace(fields, records_.size() + 1);
  if (inserted) records_.push_back(fields);
  return position->second;
}

std::vector<std::string> database::lines(const sema::program& program, relation_id id) const {
  std::vector<std::string> result;
  for (const tuple& row : (*this)[id]) {
    std::string line = row.empty() ? "()" : "";
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) line += '\t';
      line += printed(*this, program[id].attributes[column].kind, row[column]);
    }
    result.push_back(std::move(line));
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Adds the reflexive, symmetric and transitive closure.
static void close_equivalence(tuples& pairs) {
  const tuples given = pairs;
  for (const tuple& pair : given) {
    pairs.insert({{pair[1], pair[0]}, {pair[0], pair[0]}, {pair[1], pair[1]}});
  }
  for (bool changed = true; changed;) {
    tuples implied;
    for (const tuple& pair : pairs) {
      for (auto next = pairs.lower_bound({pair[1]}); next != pairs.end() && (*next)[0] == pair[1]; ++next) {
        implied.insert({pair[0], (*next)[1]});
      }
    }
    const std::size_t before = pairs.size();
    pairs.merge(implied);
    changed = pairs.size() != before;
  }
}

namespace {

/// A stratum with subsumption, in Soufflé's order of steps (src/ast2ram/seminaive): if domination is not an order, the
/// result depends on the iteration that derives each tuple.
class subsumptive_stratum {
 public:
  subsumptive_stratum(const sema::program& program, const sema::stratum& stratum, database& data)
      : program_(program), stratum_(stratum), data_(data) {}

  /// Returns false if no fixpoint was reached after `most_iterations` iterations.
  [[nodiscard]] bool run(std::size_t most_iterations) {
    for (const rule_id id : stratum_.rules) {
      if (!own_atoms(program_[id], 0).empty()) continue;
      tuples derived;
      rule_runner(program_[id], data_).run(derived);
      data_[program_[id].head.relation].merge(derived);
    }
    for (const relation_id member : stratum_.relations) {
      tuples dominated;
      const tuples& rows = data_[member];
      for (const std::uint32_t number : program_[member].subsumptions) add_dominated(number, rows, rows, dominated);
      erase(data_[member], dominated);
    }
    if (!stratum_.recursive) return true;
    for (const relation_id member : stratum_.relations) delta_[member] = data_[member];
    for (std::size_t iteration = 0; iteration < most_iterations; ++iteration) {
      if (!iterate()) return true;
    }
    return false;
  }

 private:
  /// Returns the positions of the positive atoms of the stratum, starting at a literal.
  [[nodiscard]] std::vector<std::size_t> own_atoms(const sema::rule& rule, std::size_t first) const {
    std::vector<std::size_t> result;
    for (std::size_t position = first; position < rule.body.size(); ++position) {
      const atom* body = std::get_if<atom>(&rule.body[position]);
      const auto& members = stratum_.relations;
      const bool own = body != nullptr && std::find(members.begin(), members.end(), body->relation) != members.end();
      if (own && !body->negated) result.push_back(position);
    }
    return result;
  }

  static void erase(tuples& from, const tuples& erased) {
    for (const tuple& row : erased) from.erase(row);
  }

  /// Adds the rows that `others` dominate.
  void add_dominated(std::uint32_t number, const tuples& rows, const tuples& others, tuples& dominated,
                     std::optional<std::size_t> delta_atom = {}) {
    const sema::rule& rule = program_.subsumptions[number];
    for (const tuple& row : rows) {
      for (const tuple& other : others) {
        if (row == other) continue;
        const tuples first = {row};
        const tuples second = {other};
        rule_runner runner(rule, data_);
        runner.read_from(0, first);
        runner.read_from(1, second);
        tuples changed;
        if (delta_atom) {
          const relation_id read = std::get<atom>(rule.body[*delta_atom]).relation;
          std::set_intersection(delta_[read].begin(), delta_[read].end(), data_[read].begin(), data_[read].end(),
                                std::inserter(changed, changed.end()));
          runner.read_from(*delta_atom, changed);
        }
        tuples found;
        runner.run(found);
        if (found.empty()) continue;
        dominated.insert(row);
        break;
      }
    }
  }

  /// Returns false if no tuple is new.
  bool iterate() {
    std::map<relation_id, tuples> fresh;
    for (const rule_id id : stratum_.rules) {
      const sema::rule& rule = program_[id];
      for (const std::size_t position : own_atoms(rule, 0)) {
        rule_runner runner(rule, data_);
        runner.read_from(position, delta_[std::get<atom>(rule.body[position]).relation]);
        runner.run(fresh[rule.head.relation]);
      }
    }
    bool any = false;
    std::map<relation_id, tuples> next;
    for (const relation_id member : stratum_.relations) {
      tuples& rows = data_[member];
      tuples& own = fresh[member];
      erase(own, rows);
      tuples rejected;
      for (const std::uint32_t number : program_[member].subsumptions) {
        add_dominated(number, own, own, rejected);
        add_dominated(number, own, rows, rejected);
      }
      erase(own, rejected);
      for (const std::uint32_t number : program_[member].subsumptions) {
        tuples deleted;
        add_dominated(number, rows, own, deleted);
        for (const std::size_t position : own_atoms(program_.subsumptions[number], 2)) {
          add_dominated(number, rows, rows, deleted, position);
        }
        erase(rows, deleted);
      }
      any |= !own.empty();
      next[member] = std::move(own);
    }
    for (const relation_id member : stratum_.relations) data_[member].insert(next[member].begin(), next[member].end());
    delta_ = std::move(next);
    return any;
  }

  const sema::program& program_;
  const sema::stratum& stratum_;
  database& data_;
  std::map<relation_id, tuples> delta_;
};

}  // namespace

tuples derive(const sema::program& program, rule_id rule, database& data) {
  tuples derived;
  rule_runner(program[rule], data).run(derived);
  return derived;
}

tuples derive(const sema::program& program, rule_id rule, const std::vector<tuple>& premises, database& data) {
  rule_runner runner(program[rule], data);
  std::vector<tuples> sources;
  for (const tuple& premise : premises) sources.push_back({premise});
  std::size_t next = 0;
  for (std::size_t position = 0; position < program[rule].body.size(); ++position) {
    const atom* read = std::get_if<atom>(&program[rule].body[position]);
    if (read != nullptr && !read->negated) runner.read_from(position, sources.at(next++));
  }
  tuples derived;
  if (next == sources.size()) runner.run(derived);
  return derived;
}

void evaluate(const sema::program& program, database& data) {
  for (const sema::fact& fact : program.facts) data[fact.relation].insert(fact.values);
  for (std::uint32_t number = 0; number < program.relations.size(); ++number) {
    if (program.relations[number].structure != sema::representation::eqrel) continue;
    close_equivalence(data[relation_id(number)]);
  }
  for (const sema::stratum& stratum : program.strata) {
    const bool subsumes = std::any_of(stratum.relations.begin(), stratum.relations.end(),
                                      [&](relation_id member) { return !program[member].subsumptions.empty(); });
    if (subsumes) {
      constexpr std::size_t most_iterations = 1000;
      if (!subsumptive_stratum(program, stratum, data).run(most_iterations)) throw no_fixpoint();
      continue;
    }
    bool changed = true;
    while (changed) {
      changed = false;
      for (const rule_id id : stratum.rules) {
        tuples derived;
        rule_runner(program[id], data).run(derived);
        tuples& head = data[program[id].head.relation];
        const std::size_t before = head.size();
        head.merge(derived);
        if (program[program[id].head.relation].structure == sema::representation::eqrel) close_equivalence(head);
        changed |= head.size() != before;
      }
      if (!stratum.recursive) break;
    }
  }
}

}  // namespace gpulog::oracle
