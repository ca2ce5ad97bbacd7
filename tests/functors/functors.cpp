// Functors as a user writes them, for tests/cli/test_functors.py.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gpulog/functor.hpp"

extern "C" {

std::int32_t add_length(std::int32_t x, const char* text) { return x + static_cast<std::int32_t>(std::strlen(text)); }

std::uint32_t top_bit(std::uint32_t x) { return x | 0x80000000U; }

float scaled(std::int32_t x, float factor, std::uint32_t shift) {
  return static_cast<float>(x) * factor + static_cast<float>(shift);
}

const char* repeated(const char* text, std::int32_t times) {
  thread_local std::string result;
  result.clear();
  for (std::int32_t i = 0; i < times; ++i) result += text;
  return result.c_str();
}

std::int32_t answer() { return 42; }

const char* nothing() { return nullptr; }

// More parameters of each kind than there are registers.
const char* many(std::int32_t a, float b, const char* c, std::int32_t d, float e, std::int32_t f, float g,
                 const char* h, float i, std::int32_t j, float k, float l, float m, float n, std::int32_t o, float p,
                 const char* q, float r, std::int32_t s) {
  thread_local std::string result;
  result.clear();
  for (const std::int32_t value : {a, d, f, j, o, s}) result += std::to_string(value) + ",";
  for (const float value : {b, e, g, i, k, l, m, n, p, r}) result += std::to_string(std::lround(value * 10)) + ",";
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

std::int32_t thrown(std::int32_t x) {
  if (x > 1) throw std::runtime_error("the functor's own exception");
  return x;
}

}  // extern "C"
