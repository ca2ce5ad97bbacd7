#include "engine/figures/run_measures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/calibration.hpp"
#include "plan/cost/calibration.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {

namespace {

constexpr std::uint32_t hash_of_nothing = 0x9e3779b9U;

/// Mixes a value into the hash of a key (the last step of MurmurHash3). The function is bijective, so keys of one
/// column never collide.
inline std::uint32_t mixed(std::uint32_t hash, word value) {
  hash ^= value;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

}  // namespace

key_counter::key_counts key_counter::count(const std::vector<const std::vector<word>*>& columns) {
  const std::size_t rows = columns.front()->size();
  const word* const first = columns.front()->data();
  if (columns.size() == 1)
    return count_hashes(rows, [first](std::size_t row) { return mixed(hash_of_nothing, first[row]); });
  hashes_.assign(rows, hash_of_nothing);
  std::uint32_t* const hashes = hashes_.data();
  for (const std::vector<word>* column : columns) {
    const word* const values = column->data();
    for (std::size_t row = 0; row < rows; ++row) hashes[row] = mixed(hashes[row], values[row]);
  }
  return count_hashes(rows, [hashes](std::size_t row) { return hashes[row]; });
}

template <class HashOf>
key_counter::key_counts key_counter::count_hashes(std::size_t rows, const HashOf& hash_of) {
  const std::size_t places = std::bit_ceil(rows + rows / 2 + 2);
  const int shift = 32 - std::countr_zero(places);
  const std::size_t slots = places + rows;  // probing may run past the end of the table
  if (slot_hashes_.size() < slots) slot_hashes_.resize(slots);
  slot_counts_.assign(slots, 0);
  std::uint32_t* const hashes = slot_hashes_.data();
  std::uint32_t* const numbers = slot_counts_.data();
  key_counts counts;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t hash = hash_of(row);
    std::size_t place = hash >> shift;
    while (numbers[place] != 0 && hashes[place] != hash) ++place;
    const std::uint32_t before = numbers[place]++;
    hashes[place] = hash;
    counts.pairs += before;
    counts.keys += before == 0 ? 1 : 0;
    counts.twice += before == 1 ? 1 : 0;
  }
  return counts;
}

double key_counter::all_keys(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts) {
  const auto all = static_cast<double>(rows);
  // The share of rows whose keys do not occur in the sample.
  const double unseen =
      sampled == rows ? 0 : static_cast<double>(counts.keys - counts.twice) / static_cast<double>(sampled);
  return unseen < 1 ? std::min(static_cast<double>(counts.keys) / (1 - unseen), all) : all;
}

double key_counter::rows_per_key(std::uint64_t rows, std::uint64_t sampled, const key_counts& counts) {
  const auto all = static_cast<double>(rows);
  const auto taken = static_cast<double>(sampled);
  const double keys = all_keys(rows, sampled, counts);
  const double pairs = 2 * static_cast<double>(counts.pairs);
  const double by_row = sampled < 2 ? 1 : 1 + (all - 1) * pairs / (taken * (taken - 1));
  return std::sqrt(all / keys * by_row);
}

double key_counter::rows_per_key(std::uint64_t rows, const std::vector<const std::vector<word>*>& columns) {
  return rows_per_key(rows, columns.front()->size(), count(columns));
}

sampled_keys key_counter::keys_of(std::uint64_t rows, const std::vector<word>& column) {
  const key_counts counts = count({&column});
  sampled_keys keys;
  keys.rows = column.size();
  keys.all_rows = rows;
  keys.all_keys = all_keys(rows, column.size(), counts);
  keys.rows_per_key = rows_per_key(rows, column.size(), counts);
  keys.counts = in_order(counts.keys);
  return keys;
}

/// Returns the last counts by ascending hash. The table is sorted except for neighbours, because a key's slot follows
/// from its hash.
std::vector<sampled_keys::counted> key_counter::in_order(std::uint64_t keys) const {
  std::vector<counted> ordered(memory_size(keys));
  const std::uint32_t* const hashes = slot_hashes_.data();
  const std::uint32_t* const numbers = slot_counts_.data();
  std::size_t taken = 0;
  for (std::size_t place = 0; taken < keys; ++place) {
    ordered[taken] = {hashes[place], numbers[place]};
    taken += numbers[place] != 0 ? 1 : 0;
  }
  for (std::size_t number = 1; number < keys; ++number) {
    for (std::size_t at = number; at > 0 && ordered[at].hash < ordered[at - 1].hash; --at)
      std::swap(ordered[at], ordered[at - 1]);
  }
  return ordered;
}

std::vector<sampled_keys::counted> key_counter::row_hashes(const storage::sampled_rows& sample) {
  std::vector<const std::vector<word>*> columns;
  for (const std::vector<word>& column : sample) columns.push_back(&column);
  return in_order(count(columns).keys);
}

std::uint64_t key_counter::equal_rows(const std::vector<counted>& hashes, const std::vector<counted>& others) {
  std::uint64_t equal = 0;
  auto next = others.begin();
  for (const counted& one : hashes) {
    while (next != others.end() && next->hash < one.hash) ++next;
    if (next == others.end()) break;
    if (next->hash == one.hash) ++equal;
  }
  return equal;
}

std::optional<plan::measured_join> join_of(const sampled_keys& probing, const sampled_keys& searched,
                                           std::uint64_t equal_rows) {
  const auto rows = static_cast<double>(probing.rows);
  const auto searched_rows = static_cast<double>(searched.rows);
  const double expected = rows * searched_rows / searched.all_keys;
  if (expected < exec::calibration::least_sampled_matches) return std::nullopt;
  std::uint64_t matches = 0;
  auto other = searched.counts.begin();
  for (const sampled_keys::counted& key : probing.counts) {
    while (other != searched.counts.end() && other->hash < key.hash) ++other;
    if (other == searched.counts.end()) break;
    if (other->hash == key.hash) matches += std::uint64_t{key.count} * other->count;
  }
  // Equal rows would match the same number of times by chance.
  const double by_chance =
      std::max(rows / static_cast<double>(probing.all_rows), searched_rows / static_cast<double>(searched.all_rows));
  // A count of zero in a sample does not mean zero matches.
  const double counted =
      std::max(1.0, static_cast<double>(matches) - static_cast<double>(equal_rows) * (1 - std::min(1.0, by_chance)));
  const double found = counted / expected;
  return plan::measured_join{std::min(1.0, found), found * static_cast<double>(searched.all_rows) / searched.all_keys};
}

run_measures::measured& run_measures::measured_of(relation_id relation) const {
  measured& known = measured_[relation];
  const std::uint64_t now = rows(relation);
  const auto sampled = static_cast<double>(known.rows);
  if (now < known.rows || static_cast<double>(now) > sampled * plan::calibration::noticed_growth)
    known = {now, std::nullopt, {}, {}, {}, {}};
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
  if (!has_sample(relation, known)) return std::nullopt;
  // If some columns are a key, every superset is a key.
  const bool has_key = std::any_of(known.rows_per_key.begin(), known.rows_per_key.end(), [&columns](const auto& other) {
    return other.second == 1 && std::includes(columns.begin(), columns.end(), other.first.begin(), other.first.end());
  });
  if (has_key) return counted->second = 1;
  if (columns.size() == 1) return counted->second = keys_of({relation, columns.front()})->rows_per_key;
  std::vector<const std::vector<word>*> looked_at;
  for (const std::uint32_t column : columns) looked_at.push_back(&(*known.sample)[column]);
  return counted->second = counter_.rows_per_key(known.rows, looked_at);
}

bool run_measures::has_sample(relation_id relation, const measured& known) const {
  if (!known.sample) sample({relation});
  return !known.sample->empty() && !known.sample->front().empty();
}

const sampled_keys* run_measures::keys_of(plan::column_place column) const {
  measured& known = measured_of(column.relation);
  if (known.rows == 0 || !has_sample(column.relation, known)) return nullptr;
  const auto [keys, is_new] = known.keys.try_emplace(column.column);
  if (is_new) keys->second = counter_.keys_of(known.rows, (*known.sample)[column.column]);
  return &keys->second;
}

const std::vector<sampled_keys::counted>& run_measures::row_hashes_of(relation_id relation) const {
  measured& known = measured_of(relation);
  if (known.row_hashes.empty()) known.row_hashes = counter_.row_hashes(*known.sample);
  return known.row_hashes;
}

std::optional<plan::measured_join> run_measures::join_of(plan::column_place probing,
                                                         plan::column_place searched) const {
  measured& known = measured_of(searched.relation);
  const measured& from = measured_of(probing.relation);
  measured::known_join& join = known.joins[{searched.column, probing}];
  if (join.probing_rows == from.rows) return join.found;
  join = {from.rows, std::nullopt};
  const sampled_keys* const keys = keys_of(probing);
  const sampled_keys* const searched_keys = keys == nullptr ? nullptr : keys_of(searched);
  if (searched_keys == nullptr) return std::nullopt;
  // Rows that occur in both relations are overcounted only if both are sampled.
  const bool may_be_equal = probing.column == searched.column && probing.relation != searched.relation &&
                            from.sample->size() == known.sample->size() && keys->rows < keys->all_rows &&
                            searched_keys->rows < searched_keys->all_rows;
  std::uint64_t equal = 0;
  if (may_be_equal) {
    const std::vector<sampled_keys::counted>& hashes = row_hashes_of(probing.relation);
    equal = key_counter::equal_rows(hashes, row_hashes_of(searched.relation));
  }
  join.found = detail::join_of(*keys, *searched_keys, equal);
  return join.found;
}

}  // namespace gpulog::detail
