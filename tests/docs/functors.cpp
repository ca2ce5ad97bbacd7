// Functions that programs of the documents call; docs/embedding.md shows them.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gpulog/functor.hpp"

extern "C" {

// .functor distance(x:number, y:number):number
std::int32_t distance(std::int32_t x, std::int32_t y) { return std::abs(x - y); }

// .functor upper(text:symbol):symbol
const char* upper(const char* text) {
  thread_local std::string result;
  result = text;
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result.c_str();
}

// .functor swapped(p:Pair):Pair stateful
souffle::RamDomain swapped(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain pair) {
  if (pair == 0) return 0;  // nil
  const souffle::RamDomain* const fields = records->unpack(pair, 2);
  return records->pack({fields[1], fields[0]});
}

// .functor larger(x:number, y:number):number
std::int32_t larger(std::int32_t x, std::int32_t y) { return std::max(x, y); }

// Intervals [low, high]; one with low > high is empty.
// .functor hull(a:Interval, b:Interval):Interval stateful
souffle::RamDomain hull(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                        souffle::RamDomain second) {
  const souffle::RamDomain a[] = {records->unpack(first, 2)[0], records->unpack(first, 2)[1]};
  const souffle::RamDomain b[] = {records->unpack(second, 2)[0], records->unpack(second, 2)[1]};
  if (a[0] > a[1]) return second;
  if (b[0] > b[1]) return first;
  return records->pack({std::min(a[0], b[0]), std::max(a[1], b[1])});
}

// .functor overlap(a:Interval, b:Interval):Interval stateful
souffle::RamDomain overlap(souffle::SymbolTable* /*symbols*/, souffle::RecordTable* records, souffle::RamDomain first,
                           souffle::RamDomain second) {
  const souffle::RamDomain a[] = {records->unpack(first, 2)[0], records->unpack(first, 2)[1]};
  const souffle::RamDomain b[] = {records->unpack(second, 2)[0], records->unpack(second, 2)[1]};
  const souffle::RamDomain low = std::max(a[0], b[0]);
  const souffle::RamDomain high = std::min(a[1], b[1]);
  return low > high ? records->pack({1, 0}) : records->pack({low, high});
}

}  // extern "C"
