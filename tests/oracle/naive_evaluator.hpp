#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sema/program.hpp"

/// A deliberately simple evaluator: tuples in std::set, nested loops, naive iteration. Shares no code with the engine
/// beyond the analysed program, and serves as the reference in tests.
namespace gpulog::oracle {

using tuple = std::vector<wide_word>;
using tuples = std::set<tuple>;

/// The contents of all relations, and the numbering of texts.
class database {
 public:
  /// Creates empty relations; the program's text constants keep their numbers.
  explicit database(const sema::program& program);

  [[nodiscard]] wide_word intern(const std::string& text);
  [[nodiscard]] const std::string& text(wide_word symbol) const { return symbols_.at(symbol); }
  /// Returns the number of a record with these fields; nil is 0.
  [[nodiscard]] wide_word record(const tuple& fields);
  /// Returns nullptr for nil and for numbers without a record.
  [[nodiscard]] const tuple* fields(wide_word record) const {
    return record == 0 || record > records_.size() ? nullptr : &records_[record - 1];
  }
  [[nodiscard]] tuples& operator[](relation_id id) { return relations_[id.value]; }
  [[nodiscard]] const tuples& operator[](relation_id id) const { return relations_[id.value]; }
  [[nodiscard]] word_size words() const { return words_; }
  [[nodiscard]] std::size_t symbol_count() const { return symbols_.size(); }

  /// Returns the relation's tuples as sorted lines of an output file: values joined by tabs, "()" for the empty tuple.
  [[nodiscard]] std::vector<std::string> lines(const sema::program& program, relation_id id) const;

 private:
  word_size words_;
  std::vector<tuples> relations_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, wide_word> numbers_;
  std::deque<tuple> records_;
  std::map<tuple, wide_word> record_numbers_;
};

/// Runs the program to its fixpoint. `data` holds the input facts and receives the facts of the text and all results.
/// Relations with choice-domains receive all candidates.
/// @throws evaluation_error for errors that an engine reports at run time (division by zero, a text that is not a
///   number); no_fixpoint if subsumption keeps a stratum from reaching a fixpoint
void evaluate(const sema::program& program, database& data);

/// Returns the head tuples from one application of a rule to the database.
[[nodiscard]] tuples derive(const sema::program& program, rule_id rule, database& data);

/// The same with one premise per positive atom of the body, in the order of the body; negations and aggregates read the
/// database.
[[nodiscard]] tuples derive(const sema::program& program, rule_id rule, const std::vector<tuple>& premises,
                            database& data);

class no_fixpoint : public std::exception {};

class evaluation_error : public std::exception {
 public:
  explicit evaluation_error(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

}  // namespace gpulog::oracle
