#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "oracle/naive_evaluator.hpp"
#include "oracle/naive_texts.hpp"
#include "oracle/naive_values.hpp"
#include "sema/rewriting/assignments.hpp"

namespace gpulog::oracle {

using sema::atom;
using sema::constraint;
using sema::expression;

/// Evaluates one rule by nested loops over the database, with the language's semantics of every literal.
class rule_runner {
 public:
  rule_runner(const sema::rule& rule, database& data)
      : rule_(rule), data_(data), format_(data.words()), values_(rule.variables.size()) {
    ordered_ = order_literals(rule.body, {});
  }

  /// Makes the atom at this position of the body read `rows` instead of its relation.
  void read_from(std::size_t literal, const tuples& rows) { sources_[&std::get<atom>(rule_.body[literal])] = &rows; }

  /// Adds all head tuples that the rule derives from the database to `derived`.
  void run(tuples& derived) {
    for_each_binding(ordered_, 0, [&] {
      tuple head;
      for (const expression& argument : rule_.head.arguments) head.push_back(value(argument));
      derived.insert(std::move(head));
    });
  }

 private:
  // ---- order: a test as soon as its variables are bound, fallible tests last ----

  static void collect(const expression& e, std::set<std::uint32_t>& variables) {
    if (e.is_variable()) variables.insert(e.variable);
    for (const expression& argument : e.arguments) collect(argument, variables);
  }

  static bool all_in(const expression& e, const std::set<std::uint32_t>& bound) {
    std::set<std::uint32_t> used;
    collect(e, used);
    return std::includes(bound.begin(), bound.end(), used.begin(), used.end());
  }

  static bool has_unnamed(const expression& e) {
    return e.is_unnamed() || std::any_of(e.arguments.begin(), e.arguments.end(), has_unnamed);
  }

  static bool may_fail(const expression& e) {
    switch (e.op) {
      case scalar_op::divide_number:
      case scalar_op::modulo_number:
      case scalar_op::divide_unsigned:
      case scalar_op::modulo_unsigned:
      case scalar_op::string_to_number:
      case scalar_op::string_to_unsigned:
      case scalar_op::string_to_float:
        return true;
      default:
        break;
    }
    return std::any_of(e.arguments.begin(), e.arguments.end(), may_fail);
  }

  /// 0: not ready; higher is better.
  static int readiness(const sema::literal& literal, const std::set<std::uint32_t>& bound) {
    if (const atom* body = std::get_if<atom>(&literal)) {
      if (!body->negated) return 1;
      const bool ready = std::all_of(body->arguments.begin(), body->arguments.end(),
                                     [&](const expression& argument) { return all_in(argument, bound); });
      return ready ? 4 : 0;
    }
    if (const auto* folded = std::get_if<sema::aggregate>(&literal)) {
      return std::includes(bound.begin(), bound.end(), folded->injected.begin(), folded->injected.end()) ? 3 : 0;
    }
    if (const auto* made = std::get_if<sema::generator>(&literal)) {
      const bool ready = std::all_of(made->arguments.begin(), made->arguments.end(),
                                     [&](const expression& argument) { return all_in(argument, bound); });
      return ready ? 2 : 0;
    }
    const constraint& test = std::get<constraint>(literal);
    const bool left = all_in(test.left, bound) && !has_unnamed(test.left);
    const bool right = all_in(test.right, bound) && !has_unnamed(test.right);
    const auto takes = [](const expression& e) { return e.is_variable() || e.is_record(); };
    const bool binds = test.is_equality() && ((left && takes(test.right)) || (right && takes(test.left)));
    if (!(left && right) && !binds) return 0;
    return may_fail(test.left) || may_fail(test.right) ? 2 : 3;
  }

  using literal_order = std::vector<const sema::literal*>;

  [[nodiscard]] literal_order order_literals(const std::vector<sema::literal>& body,
                                             std::set<std::uint32_t> bound) const {
    literal_order ordered;
    literal_order waiting;
    for (const sema::literal& literal : body) waiting.push_back(&literal);
    while (!waiting.empty()) {
      auto best = waiting.end();
      int best_readiness = 0;
      for (auto candidate = waiting.begin(); candidate != waiting.end(); ++candidate) {
        const int ready = readiness(**candidate, bound);
        if (ready > best_readiness) {
          best = candidate;
          best_readiness = ready;
        }
      }
      if (best == waiting.end()) throw std::logic_error("no literal of the rule is ready: " + rule_.text);
      const sema::literal& chosen = **best;
      if (const atom* body = std::get_if<atom>(&chosen)) {
        for (const expression& argument : body->arguments) collect(argument, bound);
      } else if (const auto* folded = std::get_if<sema::aggregate>(&chosen)) {
        collect(folded->result, bound);
      } else if (const auto* made = std::get_if<sema::generator>(&chosen)) {
        collect(made->result, bound);
      } else {
        collect(std::get<constraint>(chosen).left, bound);
        collect(std::get<constraint>(chosen).right, bound);
      }
      ordered.push_back(&chosen);
      waiting.erase(best);
    }
    return ordered;
  }

  // ---- evaluation ----

  using action = std::function<void()>;

  /// Calls `found` for each way to satisfy the literals from `position` on.
  void for_each_binding(const literal_order& literals, std::size_t position, const action& found) {
    if (position == literals.size()) return found();
    const auto go_on = [&] { for_each_binding(literals, position + 1, found); };
    const sema::literal& literal = *literals[position];
    if (const constraint* test = std::get_if<constraint>(&literal)) {
      check(*test, go_on);
    } else if (const auto* folded = std::get_if<sema::aggregate>(&literal)) {
      if (const std::optional<wide_word> result = fold(*folded)) compare_or_bind(folded->result, *result, go_on);
    } else if (const auto* made = std::get_if<sema::generator>(&literal)) {
      for (const wide_word each : values_of(*made)) compare_or_bind(made->result, each, go_on);
    } else if (const atom& body = std::get<atom>(literal); body.negated) {
      if (!any_match(body)) go_on();
    } else {
      for_each_match(body, [&] {
        go_on();
        return true;
      });
    }
  }

  void check(const constraint& test, const action& go_on) {
    for (const auto& [side, other] : {std::pair(&test.left, &test.right), std::pair(&test.right, &test.left)}) {
      const bool is_open = side->is_record() || (side->is_variable() && !values_[side->variable]);
      if (test.is_equality() && is_open && has_value(*other)) {
        unify({{side, value(*other)}}, go_on);
        return;
      }
    }
    if (holds(test.op, value(test.left), value(test.right))) go_on();
  }

  [[nodiscard]] bool has_value(const expression& e) const {
    if (e.is_unnamed() || (e.is_variable() && !values_[e.variable])) return false;
    return std::all_of(e.arguments.begin(), e.arguments.end(), [&](const expression& part) { return has_value(part); });
  }

  using unequal = std::vector<std::pair<const expression*, wide_word>>;

  /// Unifies each form with its value, records field by field.
  void unify(unequal open, const action& go_on) {
    if (open.empty()) return go_on();
    const auto [form, wanted] = open.back();
    open.pop_back();
    if (form->is_unnamed()) return unify(std::move(open), go_on);
    if (!form->is_record()) return compare_or_bind(*form, wanted, [&] { unify(open, go_on); });
    const tuple* const fields = data_.fields(wanted);
    if (fields == nullptr || fields->size() != form->arguments.size()) return;
    for (std::size_t field = 0; field < fields->size(); ++field) {
      open.emplace_back(&form->arguments[field], (*fields)[field]);
    }
    unify(std::move(open), go_on);
  }

  void compare_or_bind(const expression& target, wide_word wanted, const action& go_on) {
    if (target.is_variable() && !values_[target.variable]) {
      values_[target.variable] = wanted;
      go_on();
      values_[target.variable].reset();
    } else if (value(target) == wanted) {
      go_on();
    }
  }

  // ---- aggregates and ranges ----

  /// Returns one value per match, or per assignment of the variables if these count.
  [[nodiscard]] std::vector<wide_word> matches_of(const sema::aggregate& folded) {
    const std::set<std::uint32_t> injected(folded.injected.begin(), folded.injected.end());
    std::set<std::uint32_t> own;
    for (const sema::literal& part : folded.body) {
      const atom* body = std::get_if<atom>(&part);
      if (body == nullptr || body->negated) continue;
      for (const expression& argument : body->arguments) collect(argument, own);
    }
    const bool by_assignment = sema::counts_assignments(folded, rule_.variables);
    std::vector<wide_word> result;
    std::set<tuple> seen;
    for_each_binding(order_literals(folded.body, injected), 0, [&] {
      tuple assignment;
      for (const std::uint32_t variable : own) assignment.push_back(values_[variable].value());
      if (by_assignment && !seen.insert(assignment).second) return;
      result.push_back(folded.target.is_unnamed() ? 0 : value(folded.target));
    });
    return result;
  }

  [[nodiscard]] std::optional<wide_word> fold(const sema::aggregate& folded) {
    const auto signed_value = [this](wide_word w) { return format_.to_signed(w); };
    const auto float_value = [this](wide_word w) { return format_.to_float(w); };
    const std::vector<wide_word> matches = matches_of(folded);
    const auto best = [&](auto convert, bool largest) -> std::optional<wide_word> {
      if (matches.empty()) return std::nullopt;
      const auto less = [&](wide_word a, wide_word b) { return convert(a) < convert(b); };
      return largest ? *std::max_element(matches.begin(), matches.end(), less)
                     : *std::min_element(matches.begin(), matches.end(), less);
    };
    double sum = 0;
    wide_word wrapped = 0;
    for (const wide_word match : matches) {
      sum += format_.to_float(match);
      wrapped += match;
    }
    switch (folded.op) {
      case fold_op::count:
        return format_.cut(matches.size());
      case fold_op::sum_number:
        return format_.cut(wrapped);
      case fold_op::sum_float:
        return format_.from_float(sum);
      case fold_op::mean:
        if (matches.empty()) return std::nullopt;
        return format_.from_float(sum / static_cast<double>(matches.size()));
      case fold_op::min_number:
      case fold_op::max_number:
        return best(signed_value, folded.op == fold_op::max_number);
      case fold_op::min_unsigned:
      case fold_op::max_unsigned:
        return best([](wide_word w) { return w; }, folded.op == fold_op::max_unsigned);
      case fold_op::min_float:
      case fold_op::max_float:
        return best(float_value, folded.op == fold_op::max_float);
      case fold_op::functor:
        break;  // random programs have no libraries
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<wide_word> values_of(const sema::generator& made) {
    const wide_word from = value(made.arguments[0]);
    const wide_word to = value(made.arguments[1]);
    const bool has_step = made.arguments.size() > 2;
    if (made.kind == value_kind::floating) {
      const double start = format_.to_float(from);
      const double end = format_.to_float(to);
      const double step = has_step ? format_.to_float(value(made.arguments[2])) : start <= end ? 1.0 : -1.0;
      std::vector<wide_word> result;
      if (step == 0 && start != end) result.push_back(from);
      if (step == 0) return result;
      // Rounds each sum to the program's floats.
      for (wide_word at = from; step > 0 ? format_.to_float(at) < end : format_.to_float(at) > end;
           at = format_.from_float(format_.to_float(at) + step)) {
        result.push_back(at);
      }
      return result;
    }
    __extension__ using integer = __int128;
    const auto to_integer = [&](wide_word w) {
      return made.kind == value_kind::number ? integer{format_.to_signed(w)} : integer{w};
    };
    const integer start = to_integer(from);
    const integer end = to_integer(to);
    const integer step = has_step ? to_integer(value(made.arguments[2])) : integer{start <= end ? 1 : -1};
    std::vector<wide_word> result;
    if (step == 0 && start != end) result.push_back(from);
    if (step == 0) return result;
    for (integer at = start; step > 0 ? at < end : at > end; at += step) {
      result.push_back(format_.cut(static_cast<wide_word>(at)));
    }
    return result;
  }

  bool any_match(const atom& body) {
    bool found = false;
    for_each_match(body, [&] {
      found = true;
      return false;
    });
    return found;
  }

  /// Calls `action` with the variables bound for each matching tuple, until it returns false.
  template <class Action>
  void for_each_match(const atom& body, Action action) {
    const auto source = sources_.find(&body);
    const tuples& rows = source == sources_.end() ? data_[body.relation] : *source->second;
    tuple prefix;
    for (const expression& argument : body.arguments) {
      if (argument.is_unnamed() || (argument.is_variable() && !values_[argument.variable])) break;
      prefix.push_back(value(argument));
    }
    for (auto row = rows.lower_bound(prefix);
         row != rows.end() && std::equal(prefix.begin(), prefix.end(), row->begin()); ++row) {
      std::vector<std::uint32_t> bound_here;
      bool matches = true;
      for (std::size_t column = 0; matches && column < row->size(); ++column) {
        const expression& argument = body.arguments[column];
        if (argument.is_unnamed()) continue;
        if (argument.is_variable() && !values_[argument.variable]) {
          values_[argument.variable] = (*row)[column];
          bound_here.push_back(argument.variable);
        } else {
          matches = value(argument) == (*row)[column];
        }
      }
      const bool go_on = !matches || action();
      for (const std::uint32_t variable : bound_here) values_[variable].reset();
      if (!go_on) return;
    }
  }

  bool holds(comparison_op op, wide_word left, wide_word right) {
    const auto signed_value = [this](wide_word w) { return format_.to_signed(w); };
    const auto float_value = [this](wide_word w) { return format_.to_float(w); };
    const auto compare = [&](auto convert, comparison_op less, comparison_op less_equal, comparison_op greater) {
      const auto a = convert(left);
      const auto b = convert(right);
      if (op == less) return a < b;
      if (op == less_equal) return a <= b;
      if (op == greater) return a > b;
      return a >= b;
    };
    const auto as_text = [&](wide_word w) { return data_.text(w); };
    switch (op) {
      case comparison_op::equal:
        return left == right;
      case comparison_op::not_equal:
        return left != right;
      case comparison_op::equal_float:
        return float_value(left) == float_value(right);
      case comparison_op::not_equal_float:
        return float_value(left) != float_value(right);
      case comparison_op::less_number:
      case comparison_op::less_equal_number:
      case comparison_op::greater_number:
      case comparison_op::greater_equal_number:
        return compare(signed_value, comparison_op::less_number, comparison_op::less_equal_number,
                       comparison_op::greater_number);
      case comparison_op::less_unsigned:
      case comparison_op::less_equal_unsigned:
      case comparison_op::greater_unsigned:
      case comparison_op::greater_equal_unsigned:
        return compare([](wide_word w) { return w; }, comparison_op::less_unsigned, comparison_op::less_equal_unsigned,
                       comparison_op::greater_unsigned);
      case comparison_op::less_float:
      case comparison_op::less_equal_float:
      case comparison_op::greater_float:
      case comparison_op::greater_equal_float:
        return compare(float_value, comparison_op::less_float, comparison_op::less_equal_float,
                       comparison_op::greater_float);
      case comparison_op::less_symbol:
      case comparison_op::less_equal_symbol:
      case comparison_op::greater_symbol:
      case comparison_op::greater_equal_symbol:
        return compare(as_text, comparison_op::less_symbol, comparison_op::less_equal_symbol,
                       comparison_op::greater_symbol);
      case comparison_op::contains:
        return data_.text(right).find(data_.text(left)) != std::string::npos;
      case comparison_op::not_contains:
        return data_.text(right).find(data_.text(left)) == std::string::npos;
      case comparison_op::matches:
      case comparison_op::not_matches:
        break;
    }
    try {
      return std::regex_match(data_.text(right), std::regex(data_.text(left))) == (op == comparison_op::matches);
    } catch (const std::regex_error&) {
      return false;
    }
  }

  wide_word value(const expression& e) {
    switch (e.what) {
      case expression::form::variable:
        return values_[e.variable].value();
      case expression::form::constant:
        return e.constant;
      case expression::form::unnamed:
        throw std::logic_error("value of an unnamed variable: " + rule_.text);
      case expression::form::record: {
        tuple fields;
        for (const expression& argument : e.arguments) fields.push_back(value(argument));
        return data_.record(fields);
      }
      case expression::form::operation:
        break;
    }
    if (e.op == scalar_op::next_counter || e.op == scalar_op::iteration_number) {
      throw std::logic_error("counts have no order here: " + rule_.text);
    }
    if (e.op == scalar_op::concatenate) {
      std::string joined;
      for (const expression& argument : e.arguments) joined += data_.text(value(argument));
      return data_.intern(joined);
    }
    const wide_word a = value(e.arguments.at(0));
    const wide_word b = e.arguments.size() > 1 ? value(e.arguments[1]) : 0;
    const wide_word c = e.arguments.size() > 2 ? value(e.arguments[2]) : 0;
    return compute(e.op, a, b, c);
  }

  void check_divisor(wide_word divisor) const {
    if (divisor == 0) throw evaluation_error("division by zero in rule: " + rule_.text);
  }

  wide_word compute(scalar_op op, wide_word a, wide_word b, wide_word c) {
    const std::int64_t sa = format_.to_signed(a);
    const std::int64_t sb = format_.to_signed(b);
    const double fa = format_.to_float(a);
    const double fb = format_.to_float(b);
    const auto low = [this](std::int64_t value) { return format_.from_signed(value); };
    const auto float_word = [this](double value) { return format_.from_float(value); };
    const auto cut = [this](wide_word value) { return format_.cut(value); };
    const std::int64_t smallest = format_.smallest();
    const std::int64_t largest = format_.largest();
    switch (op) {
      case scalar_op::copy:
        return a;
      case scalar_op::add_number:
        return cut(a + b);
      case scalar_op::subtract_number:
        return cut(a - b);
      case scalar_op::multiply_number:
        return cut(a * b);
      case scalar_op::divide_number:
      case scalar_op::modulo_number:
        check_divisor(b);
        if (sa == smallest && sb == -1) throw evaluation_error("overflow of division in rule: " + rule_.text);
        return low(op == scalar_op::divide_number ? sa / sb : sa % sb);
      case scalar_op::power_number:
        return format_.number_from_real(std::pow(static_cast<double>(sa), static_cast<double>(sb)));
      case scalar_op::negate_number:
        return cut(0 - a);
      case scalar_op::divide_unsigned:
        check_divisor(b);
        return a / b;
      case scalar_op::modulo_unsigned:
        check_divisor(b);
        return a % b;
      case scalar_op::power_unsigned:
        return format_.unsigned_from_real(std::pow(static_cast<double>(a), static_cast<double>(b)));
      case scalar_op::add_float:
        return float_word(fa + fb);
      case scalar_op::subtract_float:
        return float_word(fa - fb);
      case scalar_op::multiply_float:
        return float_word(fa * fb);
      case scalar_op::divide_float:
        return float_word(fa / fb);
      case scalar_op::power_float:
        return float_word(format_.power(fa, fb));
      case scalar_op::negate_float:
        return float_word(-fa);
      case scalar_op::bit_and:
        return a & b;
      case scalar_op::bit_or:
        return a | b;
      case scalar_op::bit_xor:
        return a ^ b;
      case scalar_op::bit_not:
        return cut(~a);
      case scalar_op::shift_left:
        return cut(a << (b % format_.bits()));
      case scalar_op::shift_right_number:
        return low(sa >> (b % format_.bits()));
      case scalar_op::shift_right_unsigned:
        return a >> (b % format_.bits());
      case scalar_op::logical_and:
        return a != 0 && b != 0 ? 1 : 0;
      case scalar_op::logical_or:
        return a != 0 || b != 0 ? 1 : 0;
      case scalar_op::logical_xor:
        return (a != 0) != (b != 0) ? 1 : 0;
      case scalar_op::logical_not:
        return a == 0 ? 1 : 0;
      case scalar_op::min_number:
        return sa < sb ? a : b;
      case scalar_op::max_number:
        return sa < sb ? b : a;
      case scalar_op::min_unsigned:
        return std::min(a, b);
      case scalar_op::max_unsigned:
        return std::max(a, b);
      case scalar_op::min_float:
        return float_word(std::min(fa, fb));
      case scalar_op::max_float:
        return float_word(std::max(fa, fb));
      case scalar_op::number_to_float:
        return float_word(static_cast<double>(sa));
      case scalar_op::unsigned_to_float:
        return float_word(static_cast<double>(a));
      case scalar_op::float_to_number:
        return format_.number_from_real(fa);
      case scalar_op::float_to_unsigned:
        return format_.unsigned_from_real(fa);
      case scalar_op::min_symbol:
        return data_.text(a) < data_.text(b) ? a : b;
      case scalar_op::max_symbol:
        return data_.text(a) < data_.text(b) ? b : a;
      case scalar_op::string_length:
        return data_.text(a).size();
      case scalar_op::substring: {
        const std::string text = data_.text(a);
        if (sb < 0 || static_cast<std::size_t>(sb) > text.size()) return data_.intern("");
        const std::int64_t length = format_.to_signed(c);
        return data_.intern(text.substr(static_cast<std::size_t>(sb),
                                        length < 0 ? std::string::npos : static_cast<std::size_t>(length)));
      }
      case scalar_op::starts_with:
        return data_.text(a).rfind(data_.text(b), 0) == 0 ? 1 : 0;
      case scalar_op::ends_with:
        return ends_with(data_.text(a), data_.text(b)) ? 1 : 0;
      case scalar_op::index_of:
        return low(index_of(data_.text(a), data_.text(b), format_.to_signed(c)));
      case scalar_op::replace_text:
        return data_.intern(replaced(data_.text(a), data_.text(b), data_.text(c)));
      case scalar_op::to_lower:
        return data_.intern(in_other_case(data_.text(a), 'A'));
      case scalar_op::to_upper:
        return data_.intern(in_other_case(data_.text(a), 'a'));
      case scalar_op::trim:
        return data_.intern(trimmed(data_.text(a)));
      case scalar_op::part_count:
        return parts_of(data_.text(a), data_.text(b)).size();
      case scalar_op::part_of:
        return data_.intern(part_of(data_.text(a), data_.text(b), format_.to_signed(c)));
      case scalar_op::number_to_string:
        return data_.intern(std::to_string(sa));
      case scalar_op::unsigned_to_string:
        return data_.intern(std::to_string(a));
      case scalar_op::float_to_string:
        return data_.intern(std::to_string(fa));
      case scalar_op::string_to_number:
        return low(integer_from_text("to_number", data_.text(a), smallest, largest));
      case scalar_op::string_to_unsigned:
        return natural_from_text("to_unsigned", data_.text(a), cut(~wide_word{0}));
      case scalar_op::next_counter:
      case scalar_op::iteration_number:
      case scalar_op::call_functor:
      case scalar_op::concatenate:
        break;
      case scalar_op::string_to_float:
        try {
          return format_.bits() == 64 ? float_word(std::stod(data_.text(a)))
                                      : float_word(double{std::stof(data_.text(a))});
        } catch (const std::logic_error&) {
          fail_conversion("to_float", data_.text(a));
        }
    }
    throw std::logic_error("unknown operation in rule: " + rule_.text);
  }

  const sema::rule& rule_;
  database& data_;
  word_format format_;
  literal_order ordered_;
  std::vector<std::optional<wide_word>> values_;
  std::map<const atom*, const tuples*> sources_;
};

}  // namespace gpulog::oracle
