// Example functors for tests/cli/test_functors.py, with 32-bit or 64-bit words as set by RAM_DOMAIN_SIZE.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gpulog/functor.hpp"

using number = souffle::RamSigned;
using natural = souffle::RamUnsigned;
using real = souffle::RamFloat;

extern "C" {

number add_length(number x, const char* text) { return x + static_cast<number>(std::strlen(text)); }

natural top_bit(natural x) { return x | natural{1} << (8 * sizeof(natural) - 1); }

real scaled(number x, real factor, natural shift) { return static_cast<real>(x) * factor + static_cast<real>(shift); }

const char* repeated(const char* text, number times) {
  thread_local std::string result;
  result.clear();
  for (number i = 0; i < times; ++i) result += text;
  return result.c_str();
}

number answer() { return 42; }

const char* nothing() { return nullptr; }

// More parameters of each kind than registers.
const char* many(number a, real b, const char* c, number d, real e, number f, real g, const char* h, real i, number j,
                 real k, real l, real m, real n, number o, real p, const char* q, real r, number s) {
  thread_local std::string result;
  result.clear();
  for (const number value : {a, d, f, j, o, s}) result += std::to_string(value) + ",";
  for (const real value : {b, e, g, i, k, l, m, n, p, r}) result += std::to_string(std::lround(value * 10)) + ",";
  for (const char* const value : {c, h, q}) result += std::string(value) + ",";
  return result.c_str();
}

souffle::RamDomain swapped(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain pair) {
  if (pair == 0) return 0;
  const souffle::RamDomain* const fields = records->unpack(pair, 2);
  return records->pack({fields[1], fields[0]});
}

souffle::RamDomain upper(souffle::SymbolTable* symbols, souffle::RecordTable* /*records*/, souffle::RamDomain text) {
  std::string result = symbols->decode(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return symbols->encode(result);
}

souffle::RamDomain joined(souffle::SymbolTable* symbols, souffle::RecordTable* records, souffle::RamDomain list) {
  std::string result;
  while (list != 0) {
    const souffle::RamDomain* const fields = records->unpack(list, 2);
    result += symbols->decode(fields[0]);
    list = fields[1];
  }
  return symbols->findOrInsert(result).first;
}

souffle::RamDomain known_symbols(souffle::SymbolTable* symbols, souffle::RecordTable* records) {
  souffle::RamDomain known = 0;
  for (souffle::SymbolTable::iterator at = symbols->begin(); at != symbols->end(); ++at) {
    known += symbols->weakContains(at->first) ? 1 : 0;
  }
  records->enumerate([&](const souffle::RamDomain* fields, std::size_t arity, souffle::RamDomain) {
    known += arity == 2 && fields[0] == fields[1] ? 1000 : 0;
  });
  return known;
}

souffle::RamDomain lost(souffle::SymbolTable* symbols, souffle::RecordTable* records, souffle::RamDomain x) {
  return static_cast<souffle::RamDomain>(symbols->decode(1000000).size()) + *records->unpack(x, 5);
}

// Intervals [low, high]; an interval with low > high is empty.
souffle::RamDomain hull(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                        souffle::RamDomain second) {
  const souffle::RamDomain a[] = {records->unpack(first, 2)[0], records->unpack(first, 2)[1]};
  const souffle::RamDomain b[] = {records->unpack(second, 2)[0], records->unpack(second, 2)[1]};
  if (a[0] > a[1]) return second;
  if (b[0] > b[1]) return first;
  return records->pack({a[0] < b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]});
}

souffle::RamDomain overlap(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                           souffle::RamDomain second) {
  const souffle::RamDomain a[] = {records->unpack(first, 2)[0], records->unpack(first, 2)[1]};
  const souffle::RamDomain b[] = {records->unpack(second, 2)[0], records->unpack(second, 2)[1]};
  const souffle::RamDomain low = a[0] > b[0] ? a[0] : b[0];
  const souffle::RamDomain high = a[1] < b[1] ? a[1] : b[1];
  return low > high ? records->pack({0, -1}) : records->pack({low, high});
}

// Returns branch number 1, without fields, of a type with fields in further branches.
souffle::RamDomain second_branch(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records) {
  return records->pack({1, records->pack({})});
}

// Returns a branch's payload; for a branch without fields, the record without fields.
souffle::RamDomain payload(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records,
                           souffle::RamDomain branch) {
  const souffle::RamDomain found = records->unpack(branch, 2)[1];
  records->unpack(found, 0);
  return found;
}

// Numbers in a lattice of $Any (0), $Is(number) (1) and $Nothing (2).
souffle::RamDomain common(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                          souffle::RamDomain second) {
  if (first == second || records->unpack(second, 2)[0] == 0) return first;
  if (records->unpack(first, 2)[0] == 0) return second;
  return records->pack({2, records->pack({})});
}

souffle::RamDomain either(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                          souffle::RamDomain second) {
  if (first == second || records->unpack(second, 2)[0] == 2) return first;
  if (records->unpack(first, 2)[0] == 2) return second;
  return records->pack({0, records->pack({})});
}

number either_bit(number x, number y) { return x | y; }

number common_bits(number x, number y) { return x & y; }

const char* longer(const char* longest, const char* text) {
  const std::size_t known = std::strlen(longest);
  const std::size_t length = std::strlen(text);
  return length > known || (length == known && std::strcmp(text, longest) < 0) ? text : longest;
}

real decayed(real sum, number x) { return sum / 2 + static_cast<real>(x); }

number thrown(number x) {
  if (x > 1) throw std::runtime_error("the functor's own exception");
  return x;
}

}  // extern "C"
