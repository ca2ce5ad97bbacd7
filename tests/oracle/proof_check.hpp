#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gpulog/engine.hpp"
#include "io/values/structured_value.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/naive_values.hpp"
#include "sema/analysis.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/parser.hpp"

/// Checks proof trees with the naive evaluator: runs each node's rule on the node's premises alone.
namespace gpulog {

/// Parses values in texts of tuples to words of the naive evaluator.
class tuple_reader {
 public:
  tuple_reader(const sema::program& analysed, oracle::database& data, std::string_view text)
      : analysed_(&analysed), data_(&data), format_(data.words()), left_(text) {}

  /// Returns the text before the bracket.
  [[nodiscard]] std::string name() { return std::string(take_until("(")); }
  [[nodiscard]] oracle::tuple arguments(const sema::relation& of) {
    std::vector<field_type> fields;
    for (const sema::attribute& one : of.attributes) fields.push_back({one.name, {one.kind, one.structure}});
    return list('(', fields, ')');
  }
  [[nodiscard]] wide_word value(const value_type& type) {
    skip_blanks();
    switch (type.kind) {
      case value_kind::symbol:
        return data_->intern(symbol());
      case value_kind::record:
        return record((*analysed_).structures[type.structure.value]);
      case value_kind::adt:
        return branch((*analysed_).structures[type.structure.value]);
      case value_kind::floating:
        return format_.from_float(std::stod(std::string(take_until(",)]"))));
      case value_kind::unsigned_number:
        return std::stoull(std::string(take_until(",)]")));
      default:
        return format_.from_signed(std::stoll(std::string(take_until(",)]"))));
    }
  }

 private:
  void skip_blanks() {
    while (!left_.empty() && left_.front() == ' ') left_.remove_prefix(1);
  }
  std::string_view take_until(std::string_view ends) {
    const std::string_view taken = left_.substr(0, left_.find_first_of(ends));
    left_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] bool take(char wanted) {
    skip_blanks();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  std::string symbol() {
    if (!take('"')) return std::string(take_until(",)]"));  // tuple::text writes texts in branches without quotes
    std::string text;
    while (!take_plain('"')) {
      if (take_plain('\\') && left_.empty()) break;
      text += left_.at(0);
      left_.remove_prefix(1);
    }
    return text;
  }
  [[nodiscard]] bool take_plain(char wanted) {
    const bool is_there = left_.at(0) == wanted;
    if (is_there) left_.remove_prefix(1);
    return is_there;
  }
  oracle::tuple list(char opening, const std::vector<field_type>& fields, char closing) {
    oracle::tuple values;
    bool is_list = take(opening);
    for (const field_type& field : fields) {
      is_list = is_list && (values.empty() || take(','));
      if (is_list) values.push_back(value(field.type));
    }
    if (!is_list || !take(closing)) throw std::invalid_argument("no list of values: " + std::string(left_));
    return values;
  }
  wide_word record(const structure_type& type) {
    constexpr std::string_view nil = "nil";
    if (!left_.starts_with(nil)) return data_->record(list('[', type.fields, ']'));
    left_.remove_prefix(nil.size());
    return 0;
  }
  wide_word branch(const structure_type& type) {
    if (!take('$')) throw std::invalid_argument("no branch: " + std::string(left_));
    const std::string_view name = take_until("(,)] ");
    const auto found = std::find_if(type.branches.begin(), type.branches.end(),
                                    [&](const branch_type& one) { return one.name == name; });
    const auto number = static_cast<wide_word>(found - type.branches.begin());
    if (type.is_enumeration()) return number;
    if (found->fields.empty()) return data_->record({number, record_without_fields});
    const oracle::tuple values = list('(', found->fields, ')');
    return data_->record({number, values.size() == 1 ? values.front() : data_->record(values)});
  }

  const sema::program* analysed_;
  oracle::database* data_;
  oracle::word_format format_;
  std::string_view left_;
};

/// Returns a tuple in the notation of programs and proofs.
inline std::string text_of(const tuple& row, const relation& of) {
  std::string text = of.name() + "(";
  const auto attributes = of.attributes();
  for (std::size_t column = 0; column < row.size(); ++column) {
    const bool is_symbol = attributes[column].type == "symbol";
    text += (column > 0 ? ", " : "") + (is_symbol ? "\"" + row.text(column) + "\"" : row.text(column));
  }
  return text + ")";
}

/// Checks proofs of an evaluation whose tuples are in the naive evaluator's database.
class proof_check {
 public:
  proof_check(const std::string& text, engine& run) {
    source_file& file = sources_.add("proven.dl", text);
    const syntax::program parsed = syntax::parse(file, sources_, report_);
    analysed_ = sema::analyse(parsed, report_, {.warnings = false});
    data_.emplace(analysed_.value());
    for (const relation& one : run.relations()) {
      for (const tuple& row : one) add(text_of(row, one));
    }
  }

  /// Expects, for each rule of the tree, that the premises exist, that the rule derives the conclusion if its positive
  /// atoms match only the premises, and that the height is one more than the highest premise.
  void expect_sound(const proof& shown) {
    if (shown.what == proof::kind::condition) return;
    ASSERT_NE(shown.what, proof::kind::unknown) << shown.text << ": " << shown.note;
    const auto [relation, conclusion] = words_of(shown.text);
    ASSERT_TRUE((*data_)[relation].contains(conclusion)) << shown.text << " is not there";
    if (shown.what == proof::kind::fact) EXPECT_EQ(shown.height, 0);
    if (shown.what != proof::kind::derived) return;
    std::vector<oracle::tuple> premises;
    std::uint64_t highest = 0;
    for (const proof& premise : shown.premises) {
      if (premise.what == proof::kind::condition) continue;
      highest = std::max(highest, premise.height);
      premises.push_back(words_of(premise.text).second);
    }
    EXPECT_EQ(shown.height, highest + 1) << to_text(shown);
    ++nodes_;
    const bool follows = shown.rule_number == 0 ? is_of_closure(conclusion, premises)
                                                : derives(relation, shown.rule_number, premises).contains(conclusion);
    EXPECT_TRUE(follows) << shown.rule << "\n" << to_text(shown);
    for (const proof& premise : shown.premises) expect_sound(premise);
  }

  /// Returns the number of checked derived tuples.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  std::pair<relation_id, oracle::tuple> words_of(const std::string& text) {
    tuple_reader reader(*analysed_, *data_, text);
    const relation_id relation = analysed_->find_relation(reader.name()).value();
    return {relation, reader.arguments((*analysed_)[relation])};
  }
  void add(const std::string& text) {
    const auto [relation, words] = words_of(text);
    (*data_)[relation].insert(words);
  }
  oracle::tuples derives(relation_id relation, std::size_t number, const std::vector<oracle::tuple>& premises) {
    return oracle::derive(*analysed_, (*analysed_)[relation].rules.at(number - 1), premises, *data_);
  }
  static bool is_of_closure(const oracle::tuple& pair, const std::vector<oracle::tuple>& premises) {
    const bool is_chain = premises.size() == 2 && premises[0][0] == pair[0] && premises[0][1] == premises[1][0] &&
                          premises[1][1] == pair[1];
    const bool is_mirrored = premises.size() == 1 && premises[0] == oracle::tuple{pair[1], pair[0]};
    const bool is_of_itself = premises.size() == 1 && pair[0] == pair[1] && premises[0][0] == pair[0];
    return is_chain || is_mirrored || is_of_itself;
  }

  source_manager sources_;
  diagnostics report_;
  std::optional<sema::program> analysed_;
  std::optional<oracle::database> data_;
  std::uint64_t nodes_ = 0;
};

}  // namespace gpulog
