#include "plan/passes/bodies/first_matches.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "plan/planning.hpp"
#include "plan/rules/constant_folding.hpp"
#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

bool is_expansion(const operation& op) {
  return std::holds_alternative<scan>(op) || std::holds_alternative<match>(op) || std::holds_alternative<generate>(op);
}

/// Returns whether the program can observe how often the operator runs.
bool counts_bindings(const operation& op) {
  const auto* const computed = std::get_if<compute>(&op);
  return computed != nullptr && (computed->op == scalar_op::next_counter || computed->op == scalar_op::call_functor);
}

/// Returns, by operator, the position of the last operator that reads one of its bindings; 0: no reader.
std::vector<std::size_t> last_reads(const rule_version& version) {
  std::vector<std::size_t> result(version.operations.size());
  std::map<slot_id, std::size_t> reader;  // last reader of the slot's value, in a scan from the end
  for (std::size_t position = version.operations.size(); position-- > 0;) {
    const operation& op = version.operations[position];
    for (const slot_id slot : slots_written(op)) {
      const auto found = reader.find(slot);
      if (found == reader.end()) continue;
      result[position] = std::max(result[position], found->second);
      reader.erase(found);
    }
    for (const slot_id slot : slots_read(op)) reader.try_emplace(slot, position);
  }
  return result;
}

class first_match_finder {
 public:
  first_match_finder(rule_version& version, word_size words)
      : version_(version), words_(words), last_reads_(last_reads(version)) {}

  void run() {
    const std::vector<operation>& operations = version_.operations;
    if (std::any_of(operations.begin(), operations.end(), counts_bindings)) return;
    // Workers share the rows of the first loop, and every row is needed.
    const auto first = std::find_if(operations.begin(), operations.end(), is_loop);
    if (first == operations.end()) return;
    const std::size_t behind = std::holds_alternative<fold_begin>(*first) ? 0 : 1;
    find_in(static_cast<std::size_t>(first - operations.begin()) + behind, operations.size() - 1);
    // A nested first match comes after the enclosing one.
    for (auto match = version_.first_matches.rbegin(); match != version_.first_matches.rend(); ++match)
      bound_estimates(*match);
  }

 private:
  /// Bounds the estimates after a first match: it passes on each binding at most once.
  void bound_estimates(const first_match& match) {
    std::vector<double>& estimates = version_.estimates;
    if (match.begin == 0 || estimates.size() < match.end || estimates[match.end - 1] <= estimates[match.begin - 1])
      return;
    const double share = estimates[match.begin - 1] / estimates[match.end - 1];
    for (std::size_t position = match.end; position < estimates.size(); ++position) estimates[position] *= share;
  }

  /// Finds the shortest first matches in [begin, end), in order, and the nested first matches inside each.
  void find_in(std::size_t begin, std::size_t end) {
    for (std::size_t position = begin; position < end;) {
      if (const auto* fold = std::get_if<fold_begin>(&version_.operations[position])) {
        position = end_of(fold);
        continue;
      }
      const std::size_t found = is_expansion(version_.operations[position]) ? end_of_first_match(position, end) : 0;
      if (found == 0) {
        ++position;
        continue;
      }
      // A first match that ends with the enclosing first match is already part of the enclosing one.
      const bool is_part = !around_.empty() && around_.back() == found;
      if (!is_part) version_.first_matches.push_back({position, found});
      around_.push_back(found);
      find_in(position + 1, found);
      around_.pop_back();
      position = found;
    }
  }

  /// Returns the position after the aggregate that begins here.
  [[nodiscard]] std::size_t end_of(const fold_begin* begin) const {
    std::size_t position = 0;
    while (std::get_if<fold_begin>(&version_.operations[position]) != begin) ++position;
    for (std::size_t open = 0;; ++position) {
      if (std::holds_alternative<fold_begin>(version_.operations[position])) ++open;
      if (std::holds_alternative<fold_end>(version_.operations[position]) && --open == 0) return position + 1;
    }
  }

  /// Returns the first position, at most `end`, after which no operator reads a value bound since `begin`; 0: no such
  /// position.
  [[nodiscard]] std::size_t end_of_first_match(std::size_t begin, std::size_t end) const {
    std::size_t last_read = begin;
    std::size_t open = 0;  // number of open aggregates
    for (std::size_t position = begin; position < end && last_read < end; ++position) {
      const operation& op = version_.operations[position];
      if (may_fault(op)) return 0;
      if (std::holds_alternative<fold_begin>(op)) ++open;
      if (std::holds_alternative<fold_end>(op)) --open;
      last_read = std::max(last_read, last_reads_[position]);
      if (open == 0 && last_read <= position) return position + 1;
    }
    return 0;
  }

  [[nodiscard]] bool may_fault(const operation& op) const {
    if (const auto* test = std::get_if<filter>(&op)) {
      // a malformed pattern is a fault
      return test->op == comparison_op::matches || test->op == comparison_op::not_matches;
    }
    if (std::holds_alternative<fold_end>(op)) return std::get<fold_end>(op).op == fold_op::functor;
    const auto* const computed = std::get_if<compute>(&op);
    if (computed == nullptr || !may_trap(computed->op)) return false;
    const bool has_divisor = computed->arguments.size() == 2 && computed->arguments[1].is_constant;
    return !has_divisor || !cannot_trap_with(computed->op, computed->arguments[1].literal, words_);
  }

  rule_version& version_;
  word_size words_;
  std::vector<std::size_t> last_reads_;  // by operator: last reader of its bindings
  std::vector<std::size_t> around_;      // ends of the enclosing first matches
};

}  // namespace

void find_first_matches(rule_version& version, word_size words) { first_match_finder(version, words).run(); }

void find_first_matches(planning& shared) {
  const word_size words = shared.source.words;
  const auto find_in_phase = [words](phase& searched) {
    for (rule_version& version : searched.versions) find_first_matches(version, words);
  };
  for (stratum& planned : shared.result.strata) {
    find_in_phase(planned.once);
    for (phase& repeated : planned.loop) find_in_phase(repeated);
  }
}

}  // namespace gpulog::plan
