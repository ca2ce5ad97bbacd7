#include "engine/figures/run_measures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/calibration.hpp"
#include "plan/cost/calibration.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::detail {
namespace {

/// How often each combination of values is in the columns, in no order.
std::vector<std::uint32_t> count_keys(const std::vector<const std::vector<word>*>& columns) {
  struct counted {
    std::uint32_t hash = 0;
    std::uint32_t count = 0;  ///< 0: free
  };
  const std::size_t rows = columns.front()->size();
  std::vector<counted> table(std::bit_ceil(2 * rows + 1));
  for (std::size_t row = 0; row < rows; ++row) {
    storage::key_hash key;
    for (const std::vector<word>* column : columns) key.add((*column)[row]);
    const auto hash = static_cast<std::uint32_t>(key.value());
    std::uint64_t place = storage::scale(key.value(), table.size());
    while (table[place].count != 0 && table[place].hash != hash) place = (place + 1) & (table.size() - 1);
    table[place].hash = hash;
    ++table[place].count;
  }
  std::vector<std::uint32_t> counts;
  for (const counted& one : table) {
    if (one.count != 0) counts.push_back(one.count);
  }
  return counts;
}

}  // namespace

double estimated_rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns) {
  const std::vector<std::uint32_t> counts = count_keys(columns);
  const auto all = static_cast<double>(rows);
  const auto sampled = static_cast<double>(columns.front()->size());
  double single = 0;
  double pairs = 0;
  for (const std::uint32_t count : counts) {
    if (count == 1) ++single;
    pairs += static_cast<double>(count) * (count - 1);
  }
  const bool is_whole = columns.front()->size() == rows;
  const double unseen = is_whole ? 0 : single / sampled;  // share of the rows whose keys are not in the sample
  double keys = static_cast<double>(counts.size());
  keys = unseen < 1 ? std::min(keys / (1 - unseen), all) : all;
  const double by_row = sampled < 2 ? 1 : 1 + (all - 1) * pairs / (sampled * (sampled - 1));
  return std::sqrt(all / keys * by_row);
}

std::optional<double> run_measures::rows_per_key(relation_id relation,
                                                 const std::vector<std::uint32_t>& columns) const {
  measured& known = measured_[relation];
  const std::uint64_t now = rows(relation);
  const auto sampled = static_cast<double>(known.rows);
  if (now < known.rows || static_cast<double>(now) > sampled * plan::calibration::noticed_growth)
    known = {now, std::nullopt, {}};
  const auto [counted, is_new] = known.rows_per_key.try_emplace(columns);
  if (!is_new) return counted->second;
  if (known.rows == 0) return counted->second = 1;
  if (!known.sample) known.sample = running_.sample(relation, exec::calibration::measured_rows);
  if (known.sample->empty() || known.sample->front().empty()) return std::nullopt;
  std::vector<const std::vector<word>*> looked_at;
  for (const std::uint32_t column : columns) looked_at.push_back(&(*known.sample)[column]);
  return counted->second = estimated_rows_per_key(known.rows, looked_at);
}

}  // namespace gpulog::detail
