#include "sema/types/functors.hpp"

#include <cstdint>
#include <unordered_map>

namespace gpulog::sema {

namespace {

constexpr value_kind n = value_kind::number;
constexpr value_kind u = value_kind::unsigned_number;
constexpr value_kind f = value_kind::floating;
constexpr value_kind s = value_kind::symbol;

functor_overload unary(value_kind operand, value_kind result, scalar_op op) {
  return {{operand}, result, op, op == scalar_op::copy ? lowering::retype : lowering::direct};
}

functor_overload binary(value_kind kind, scalar_op op) { return {{kind, kind}, kind, op, lowering::direct}; }

functor_overload folded(value_kind kind, scalar_op op) { return {{kind}, kind, op, lowering::fold}; }

functor_signature infix(std::string_view name, std::vector<functor_overload> overloads) {
  return {name, 2, 2, std::move(overloads)};
}

functor_signature prefix(std::string_view name, std::vector<functor_overload> overloads) {
  return {name, 1, 1, std::move(overloads)};
}

std::vector<functor_signature> make_table() {
  using op = scalar_op;
  std::vector<functor_signature> table;
  table.push_back(prefix("neg", {unary(n, n, op::negate_number), unary(f, f, op::negate_float)}));
  table.push_back(infix("+", {binary(n, op::add_number),
                              binary(u, op::add_number),
                              binary(f, op::add_float),
                              {{s, s}, s, op::concatenate, lowering::join}}));
  table.push_back(
      infix("-", {binary(n, op::subtract_number), binary(u, op::subtract_number), binary(f, op::subtract_float)}));
  table.push_back(
      infix("*", {binary(n, op::multiply_number), binary(u, op::multiply_number), binary(f, op::multiply_float)}));
  table.push_back(
      infix("/", {binary(n, op::divide_number), binary(u, op::divide_unsigned), binary(f, op::divide_float)}));
  table.push_back(infix("%", {binary(n, op::modulo_number), binary(u, op::modulo_unsigned)}));
  table.push_back(infix("^", {binary(n, op::power_number), binary(u, op::power_unsigned), binary(f, op::power_float)}));

  const auto on_integers = [&](std::string_view name, op number_op, op unsigned_op) {
    table.push_back(infix(name, {binary(n, number_op), binary(u, unsigned_op)}));
  };
  on_integers("band", op::bit_and, op::bit_and);
  on_integers("bor", op::bit_or, op::bit_or);
  on_integers("bxor", op::bit_xor, op::bit_xor);
  on_integers("bshl", op::shift_left, op::shift_left);
  on_integers("bshr", op::shift_right_number, op::shift_right_unsigned);
  on_integers("bshru", op::shift_right_unsigned, op::shift_right_unsigned);
  on_integers("land", op::logical_and, op::logical_and);
  on_integers("lor", op::logical_or, op::logical_or);
  on_integers("lxor", op::logical_xor, op::logical_xor);
  table.push_back(prefix("bnot", {unary(n, n, op::bit_not), unary(u, u, op::bit_not)}));
  table.push_back(prefix("lnot", {unary(n, n, op::logical_not), unary(u, u, op::logical_not)}));

  table.push_back(
      {"min",
       2,
       SIZE_MAX,
       {folded(n, op::min_number), folded(u, op::min_unsigned), folded(f, op::min_float), folded(s, op::min_symbol)}});
  table.push_back(
      {"max",
       2,
       SIZE_MAX,
       {folded(n, op::max_number), folded(u, op::max_unsigned), folded(f, op::max_float), folded(s, op::max_symbol)}});

  const auto generated = [](value_kind kind) {
    return functor_overload{{kind}, kind, scalar_op::copy, lowering::generate};
  };
  table.push_back({"range", 2, 3, {generated(n), generated(u), generated(f)}});
  table.push_back({"cat", 1, SIZE_MAX, {{{s}, s, op::concatenate, lowering::join}}});
  table.push_back(prefix("strlen", {unary(s, n, op::string_length)}));
  table.push_back({"substr", 3, 3, {{{s, n, n}, s, op::substring, lowering::direct}}});
  table.push_back({"starts_with", 2, 2, {{{s, s}, n, op::starts_with, lowering::direct}}});
  table.push_back({"ends_with", 2, 2, {{{s, s}, n, op::ends_with, lowering::direct}}});
  table.push_back({"index_of", 2, 3, {{{s, s, n}, n, op::index_of, lowering::direct}}});
  table.push_back({"replace", 3, 3, {{{s, s, s}, s, op::replace_text, lowering::direct}}});
  table.push_back(prefix("to_lower", {unary(s, s, op::to_lower)}));
  table.push_back(prefix("to_upper", {unary(s, s, op::to_upper)}));
  table.push_back(prefix("trim", {unary(s, s, op::trim)}));
  table.push_back({"split", 2, 3, {{{s, s, n}, s, op::part_of, lowering::split}}});
  table.push_back({"format", 1, SIZE_MAX, {{{}, s, op::concatenate, lowering::format}}});
  table.push_back(prefix("ord", {{{}, n, op::copy, lowering::retype}}));
  table.push_back(prefix("to_string", {unary(n, s, op::number_to_string), unary(u, s, op::unsigned_to_string),
                                       unary(f, s, op::float_to_string), unary(s, s, op::copy)}));
  table.push_back(prefix("to_number", {unary(n, n, op::copy), unary(u, n, op::copy), unary(f, n, op::float_to_number),
                                       unary(s, n, op::string_to_number)}));
  table.push_back(prefix("to_unsigned", {unary(n, u, op::copy), unary(u, u, op::copy),
                                         unary(f, u, op::float_to_unsigned), unary(s, u, op::string_to_unsigned)}));
  table.push_back(prefix("to_float", {unary(n, f, op::number_to_float), unary(u, f, op::unsigned_to_float),
                                      unary(f, f, op::copy), unary(s, f, op::string_to_float)}));
  return table;
}

}  // namespace

std::optional<std::vector<std::string>> pieces_of_format(std::string_view pattern) {
  std::vector<std::string> pieces(1);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view two = pattern.substr(at, 2);
    if (two == "{}") {
      pieces.emplace_back();
    } else if (pattern[at] != '{' && pattern[at] != '}') {
      pieces.back() += pattern[at];
      continue;
    } else if (two == "{{" || two == "}}") {
      pieces.back() += pattern[at];
    } else {
      return std::nullopt;
    }
    ++at;
  }
  return pieces;
}

const functor_signature* find_functor(std::string_view name) {
  static const std::vector<functor_signature> table = make_table();
  static const std::unordered_map<std::string_view, const functor_signature*> by_name = [] {
    std::unordered_map<std::string_view, const functor_signature*> result;
    for (const functor_signature& signature : table) result.emplace(signature.name, &signature);
    return result;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace gpulog::sema
