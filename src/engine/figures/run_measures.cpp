#include "engine/figures/run_measures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/calibration.hpp"
#include "plan/cost/calibration.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::detail {

key_counter::key_counts key_counter::count(const std::vector<const std::vector<word>*>& columns) {
  const std::size_t rows = columns.front()->size();
  table_.assign(std::bit_ceil(rows + rows / 2 + 1), {});
  const std::uint64_t last = table_.size() - 1;
  key_counts counts;
  for (std::size_t row = 0; row < rows; ++row) {
    storage::key_hash key;
    for (const std::vector<word>* column : columns) key.add((*column)[row]);
    const auto hash = static_cast<std::uint32_t>(key.value());
    std::uint64_t place = storage::scale(key.value(), table_.size());
    while (table_[place].count != 0 && table_[place].hash != hash) place = (place + 1) & last;
    const std::uint32_t before = table_[place].count++;
    table_[place].hash = hash;
    counts.pairs += before;
    if (before == 0) ++counts.keys;
    if (before == 0) ++counts.single;
    if (before == 1) --counts.single;
  }
  return counts;
}

double key_counter::rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns) {
  const key_counts counts = count(columns);
  const auto all = static_cast<double>(rows);
  const auto sampled = static_cast<double>(columns.front()->size());
  const auto in_sample = static_cast<double>(counts.keys);
  const bool is_whole = columns.front()->size() == rows;
  // The share of the rows whose keys are not in the sample.
  const double unseen = is_whole ? 0 : static_cast<double>(counts.single) / sampled;
  const double keys = unseen < 1 ? std::min(in_sample / (1 - unseen), all) : all;
  const double pairs = 2 * static_cast<double>(counts.pairs);
  const double by_row = sampled < 2 ? 1 : 1 + (all - 1) * pairs / (sampled * (sampled - 1));
  return std::sqrt(all / keys * by_row);
}

run_measures::measured& run_measures::measured_of(relation_id relation) const {
  measured& known = measured_[relation];
  const std::uint64_t now = rows(relation);
  const auto sampled = static_cast<double>(known.rows);
  if (now < known.rows || static_cast<double>(now) > sampled * plan::calibration::noticed_growth)
    known = {now, std::nullopt, {}};
  return known;
}

void run_measures::sample(const std::vector<relation_id>& relations) const {
  std::vector<storage::sampled_rows> samples = running_.sample(relations, exec::calibration::measured_rows);
  for (std::size_t number = 0; number < relations.size(); ++number)
    measured_[relations[number]].sample = std::move(samples[number]);
}

void run_measures::expect(const std::vector<relation_id>& relations) const {
  std::vector<relation_id> unknown;
  for (const relation_id relation : relations) {
    const measured& known = measured_of(relation);
    if (known.rows != 0 && !known.sample) unknown.push_back(relation);
  }
  if (!unknown.empty()) sample(unknown);
}

bool run_measures::is_searched(relation_id relation, const std::vector<std::uint32_t>& columns) const {
  const std::vector<exec::key_search> searches = running_.key_searches(relation);
  return std::any_of(searches.begin(), searches.end(),
                     [&](const exec::key_search& one) { return one.columns == columns; });
}

std::optional<double> run_measures::rows_per_key(relation_id relation,
                                                 const std::vector<std::uint32_t>& columns) const {
  for (const exec::key_search& one : running_.key_searches(relation)) {
    if (one.columns == columns) return one.rows_per_key;
  }
  measured& known = measured_of(relation);
  const auto [counted, is_new] = known.rows_per_key.try_emplace(columns);
  if (!is_new) return counted->second;
  if (known.rows == 0) return counted->second = 1;
  if (!known.sample) sample({relation});
  if (known.sample->empty() || known.sample->front().empty()) return std::nullopt;
  // With one row for each value of some columns, there is one for those of more.
  const bool has_key = std::any_of(known.rows_per_key.begin(), known.rows_per_key.end(), [&columns](const auto& other) {
    return other.second == 1 && std::includes(columns.begin(), columns.end(), other.first.begin(), other.first.end());
  });
  if (has_key) return counted->second = 1;
  std::vector<const std::vector<word>*> looked_at;
  for (const std::uint32_t column : columns) looked_at.push_back(&(*known.sample)[column]);
  return counted->second = counter_.rows_per_key(known.rows, looked_at);
}

}  // namespace gpulog::detail
