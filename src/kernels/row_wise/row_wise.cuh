#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/calibration.hpp"
#include "kernels/join/steps.cuh"
#include "kernels/join/wave_share.cuh"
#include "kernels/row_wise/row_rule_view.cuh"
#include "kernels/row_wise/row_sink.cuh"
#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/row_wise/words.cuh"

/// Evaluates rules row by row (kernels/row_wise/row_wise_task.hpp) on a device. A wave or a block collects the values
/// of a row as words in a hash table in shared memory. Larger rows are marked in bitmaps, several at a time, by the
/// whole device in equal shares of their candidates.
namespace gpulog::kernels::gpu {

constexpr unsigned row_threads = 256;
constexpr unsigned row_waves = row_threads / wave_size;
/// Pending words per lane.
constexpr unsigned words_at_once = 2;

struct row_totals {
  unsigned long long next;                ///< next number of the list
  unsigned long long rows;                ///< rows of the result
  unsigned long long work;                ///< words read as candidates
  unsigned long long first_without_room;  ///< lowest place that was beyond the capacity; larger than `rows` if none was
  unsigned long long missing_rows;        ///< results of the rows without space
  unsigned long long missing;             ///< number of rows without space
  unsigned long long large;               ///< number of rows too large for a table
};

struct row_arguments {
  const word* rows = nullptr;  ///< values of the head's first column
  const std::uint64_t* work = nullptr;
  const row_rule_view* rules = nullptr;
  std::uint32_t rule_count = 0;
  const row_filter* filters = nullptr;
  std::uint32_t filter_count = 0;
  // Which rows to evaluate: numbers [first_number, last_number) of a sequence that visits every list entry once, so
  // evenly that its start is a sample of all rows.
  const std::uint32_t* listed = nullptr;
  std::uint64_t list_size = 0;
  std::uint64_t first_number = 0;
  std::uint64_t last_number = 0;
  std::uint64_t stride = 1;  ///< coprime to list_size
  std::uint32_t slots = 0;   ///< maximum slots of a block's table
  // Results. If the relation already has tuples, only the tuples that its set does not contain.
  set_view set;
  word* left = nullptr;
  word* right = nullptr;
  std::uint64_t capacity = 0;
  row_totals* totals = nullptr;
  std::uint32_t* missing = nullptr;  ///< rows without space
  std::uint32_t* large = nullptr;    ///< rows too large for a table
};

__device__ inline bool passes(const row_arguments& arguments, word row, word value) {
  for (std::uint32_t f = 0; f < arguments.filter_count; ++f) {
    const row_filter& one = arguments.filters[f];
    const auto operand = [&](row_filter::side side, wide_word constant) {
      if (side == row_filter::side::constant) return static_cast<word>(constant);
      return side == row_filter::side::source ? row : value;
    };
    if (!compare_words(one.op, operand(one.left, one.left_constant), operand(one.right, one.right_constant)))
      return false;
  }
  return true;
}
/// Returns the values of a word that pass the filters.
__device__ inline std::uint32_t passing(const row_arguments& arguments, word row, std::uint32_t number,
                                        std::uint32_t mask) {
  std::uint32_t kept = mask;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const unsigned bit = backend::gpu::lowest_bit(left);
    if (!passes(arguments, row, number << row_word_bits | bit)) kept &= ~(1U << bit);
  }
  return kept;
}

/// Returns the results in a word: values that pass the filters and, for an insertion, that the set does not contain.
template <bool Inserts>
__device__ std::uint32_t results_of(const row_arguments& arguments, word row, std::uint32_t number,
                                    std::uint32_t mask) {
  if (mask != 0 && arguments.filter_count != 0) mask = passing(arguments, row, number, mask);
  if (Inserts && mask != 0) mask = missing_values(arguments.set, row, number, mask);
  return mask;
}

/// A hash table of words by number, with open addressing.
struct word_table {
  static constexpr std::uint32_t free = UINT32_MAX;
  std::uint32_t* numbers;
  std::uint32_t* masks;
  std::uint32_t size;  ///< a power of two
  unsigned shift;
  std::uint32_t probes;

  /// @return whether the word fits
  __device__ bool add(std::uint32_t number, std::uint32_t mask) const {
    std::uint32_t at = (number * 0x9E3779B1U) >> shift;
    for (std::uint32_t probe = 0; probe < probes; ++probe) {
      // Most words already exist; plain loads cost less than atomics.
      std::uint32_t seen = *static_cast<volatile std::uint32_t*>(numbers + at);
      if (seen == free) seen = atomicCAS(numbers + at, free, number);
      if (seen == free || seen == number) {
        if ((*static_cast<volatile std::uint32_t*>(masks + at) & mask) != mask) atomicOr(masks + at, mask);
        return true;
      }
      at = (at + 1) & (size - 1);
    }
    return false;
  }
};

/// The threads that compute a row together: a wave or a block.
template <unsigned Waves>
struct row_team {
  [[nodiscard]] __device__ static unsigned thread() { return Waves == 1 ? backend::gpu::lane() : threadIdx.x; }
  [[nodiscard]] __device__ static unsigned wave() { return Waves == 1 ? 0 : backend::gpu::wave(); }
  __device__ static void synchronize() {
    if constexpr (Waves == 1) {
      backend::gpu::wave_barrier();
    } else {
      __syncthreads();
    }
  }
};

/// Adds the words of a rule to the row.
template <unsigned Waves>
__device__ void add_rule(const row_rule_view& rule, std::uint32_t row, const word_table& table,
                         std::uint32_t* is_full) {
  const unsigned lane = backend::gpu::lane();
  const std::uint32_t begin = rule.begin[row];
  const std::uint32_t items = rule.end[row] - begin;
  // A small number of items is spread over all waves.
  const std::uint32_t batch = min(std::uint32_t{wave_size}, (items + Waves - 1) / Waves);
  for (std::uint32_t base = row_team<Waves>::wave() * batch; base < items; base += Waves * batch) {
    if constexpr (Waves > 1) {
      if (backend::gpu::any_lane(*static_cast<volatile std::uint32_t*>(is_full) != 0)) return;
    }
    row_range range;
    if (lane < batch && base + lane < items) range = rule.words_of(begin + base + lane);
    share_long_ranges<words_at_once>(
        range.first, range.count, [&](std::uint32_t position) { return rule.words[position]; },
        [&](bool is_there, std::uint64_t found) {
          if (!is_there) return;
          if (!table.add(static_cast<std::uint32_t>(found >> 32), static_cast<std::uint32_t>(found))) *is_full = 1;
        });
  }
}

/// Writes the values of words with a wave, one word at a time; each of the first lanes writes the value of its bit.
/// Inserts the values into the set first.
template <bool Inserts>
__device__ std::uint64_t write_words(const row_arguments& arguments, word row, std::uint32_t number, std::uint32_t mask,
                                     std::uint64_t at) {
  const unsigned lane = backend::gpu::lane();
  if (Inserts && mask != 0) insert_values(arguments.set, row, number, mask);
  for (backend::gpu::lane_mask left = backend::gpu::ballot(mask != 0); left != 0; left &= left - 1) {
    const unsigned owner = backend::gpu::lowest_bit(left);
    const std::uint32_t owned_number = backend::gpu::shuffle(number, owner);
    const std::uint32_t owned_mask = backend::gpu::shuffle(mask, owner);
    if (lane < row_word_values && (owned_mask >> lane & 1U) != 0) {
      const std::uint64_t place = at + backend::gpu::rank_in(owned_mask);
      arguments.left[place] = row;
      arguments.right[place] = owned_number << row_word_bits | lane;
    }
    at += backend::gpu::count_bits(owned_mask);
  }
  return at;
}

/// Reserves places for results, or records that the row has no space.
/// @return the first place, or UINT64_MAX if space is short
__device__ inline std::uint64_t take_rows(const row_arguments& arguments, std::uint32_t row, std::uint32_t count) {
  row_totals& totals = *arguments.totals;
  if (count == 0) return 0;
  // Places before the first row without space have no gaps.
  const std::uint64_t place = atomicAdd(&totals.rows, static_cast<unsigned long long>(count));
  if (place + count <= arguments.capacity) return place;
  atomicMin(&totals.first_without_room, static_cast<unsigned long long>(place));
  atomicAdd(&totals.missing_rows, static_cast<unsigned long long>(count));
  arguments.missing[atomicAdd(&totals.missing, 1ULL)] = row;
  return UINT64_MAX;
}

/// Computes each row with one team: a wave (8 rows per block at a time) or a block.
/// @tparam Inserts whether results are added to a set
template <unsigned Waves, bool Inserts>
__global__ void __launch_bounds__(row_threads) rows_kernel(const row_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, shared_words);
  GPULOG_SHARED(unsigned long long, shared_number);
  GPULOG_SHARED(unsigned long long, shared_place);
  GPULOG_SHARED(std::uint32_t, is_full);
  GPULOG_SHARED(std::uint32_t[row_waves], counts);
  using team = row_team<Waves>;
  constexpr std::uint32_t threads = Waves * wave_size;
  const unsigned lane = backend::gpu::lane();
  const std::uint32_t most_slots = Waves == 1 ? calibration::wave_row_slots : arguments.slots;
  word_table table;
  table.numbers = shared_words + (Waves == 1 ? backend::gpu::wave() * 2 * most_slots : 0);
  table.masks = table.numbers + most_slots;
  std::uint64_t number = arguments.first_number + blockIdx.x * row_waves + backend::gpu::wave();
  unsigned long long work = 0;  // of the rows computed by this team
  for (;; number += std::uint64_t{gridDim.x} * row_waves) {
    if constexpr (Waves > 1) {
      __syncthreads();  // all threads have read the previous row's variables
      if (threadIdx.x == 0) {
        shared_number = arguments.first_number + atomicAdd(&arguments.totals->next, 1ULL);
        is_full = 0;
      }
      __syncthreads();
      number = shared_number;
    }
    if (number >= arguments.last_number) break;
    const std::uint32_t row = arguments.listed[number * arguments.stride % arguments.list_size];
    const word row_value = arguments.rows[row];

    // Twice as many slots as candidate words, within the limit.
    constexpr std::uint32_t least_slots = Waves * wave_size;
    const std::uint64_t wanted = 2 * arguments.work[row];
    table.size = least_slots;
    while (table.size < wanted && table.size < most_slots) table.size *= 2;
    table.shift = word_bits - backend::gpu::count_bits(table.size - 1);
    table.probes = Waves == 1 ? table.size : min(table.size, calibration::most_row_probes);
    for (std::uint32_t slot = team::thread(); slot < table.size; slot += threads) {
      table.numbers[slot] = word_table::free;
      table.masks[slot] = 0;
    }
    team::synchronize();
    for (std::uint32_t r = 0; r < arguments.rule_count; ++r) add_rule<Waves>(arguments.rules[r], row, table, &is_full);
    team::synchronize();
    if constexpr (Waves > 1) {
      if (is_full != 0) {
        if (threadIdx.x == 0) arguments.large[atomicAdd(&arguments.totals->large, 1ULL)] = row;
        continue;
      }
    }

    work += arguments.work[row];

    // Each wave counts and writes a part of the table.
    const std::uint32_t part = table.size / Waves;
    const std::uint32_t begin = team::wave() * part;
    std::uint32_t count = 0;
    for (std::uint32_t slot = begin + lane; slot < begin + part; slot += wave_size) {
      if (Inserts || arguments.filter_count != 0)
        table.masks[slot] = results_of<Inserts>(arguments, row_value, table.numbers[slot], table.masks[slot]);
      count += backend::gpu::count_bits(table.masks[slot]);
    }
    count = backend::gpu::sum_of_lanes(count);
    std::uint64_t place = 0;
    if constexpr (Waves == 1) {
      if (lane == 0) place = take_rows(arguments, row, count);
      place = backend::gpu::shuffle(place, 0);
    } else {
      if (lane == 0) counts[backend::gpu::wave()] = count;
      __syncthreads();
      if (threadIdx.x == 0) {
        std::uint32_t sum = 0;
        for (std::uint32_t& one : counts) {
          const std::uint32_t own = one;
          one = sum;
          sum += own;
        }
        shared_place = take_rows(arguments, row, sum);
      }
      __syncthreads();
      place = shared_place == UINT64_MAX ? UINT64_MAX : shared_place + counts[backend::gpu::wave()];
    }
    if (place == UINT64_MAX) continue;
    for (std::uint32_t slot = begin + lane; slot < begin + part; slot += wave_size)
      place = write_words<Inserts>(arguments, row_value, table.numbers[slot], table.masks[slot], place);
    team::synchronize();
  }
  if (team::thread() == 0 && work != 0) atomicAdd(&arguments.totals->work, work);
}

/// Bitmaps of several rows. A part is the words of one rule for one row: part p is rule p % rule_count of row p /
/// rule_count.
struct bitmap_arguments {
  row_arguments all;                    ///< listed: the rows, in order
  const std::uint64_t* sums = nullptr;  ///< by part: words of all earlier parts; one extra entry
  std::uint64_t parts = 0;
  std::uint32_t* bitmaps = nullptr;  ///< [row][stride]
  std::uint64_t stride = 0;          ///< words per row, a multiple of the wave size
};

/// Visits words [first, last) of a rule's items [begin, end), as counted by the prefix sums.
template <class Visit>
__device__ void for_each_word(const row_rule_view& rule, std::uint32_t begin, std::uint32_t end, std::uint64_t first,
                              std::uint64_t last, const Visit& visit) {
  const unsigned lane = backend::gpu::lane();
  std::uint64_t base = owner_by_wave(rule.sums, begin, end - 1, first);
  for (; base < end; base += wave_size) {
    const std::uint64_t item = base + lane;
    row_range range;
    if (item < end) {
      const std::uint64_t own = rule.sums[item];
      const std::uint64_t from = max(own, first);
      const std::uint64_t to = min(rule.sums[item + 1], last);
      if (from < to) {
        range = rule.words_of(static_cast<std::uint32_t>(item));
        range.first += static_cast<std::uint32_t>(from - own);
        range.count = static_cast<std::uint32_t>(to - from);
      }
    }
    share_long_ranges<words_at_once>(
        range.first, range.count, [&](std::uint32_t position) { return rule.words[position]; },
        [&](bool is_there, std::uint64_t found) {
          if (is_there) visit(found);
        });
    if (rule.sums[min(base + wave_size, static_cast<std::uint64_t>(end))] >= last) break;
  }
}

__global__ void __launch_bounds__(row_threads) mark_kernel(const bitmap_arguments arguments) {
  const std::uint64_t total = arguments.sums[arguments.parts];
  const std::uint64_t waves = std::uint64_t{gridDim.x} * row_waves;
  std::uint64_t begin = (std::uint64_t{blockIdx.x} * row_waves + backend::gpu::wave()) * calibration::marked_share;
  for (; begin < total; begin += waves * calibration::marked_share) {
    const std::uint64_t end = min(begin + calibration::marked_share, total);
    std::uint64_t part = owner_by_wave(arguments.sums, 0, arguments.parts - 1, begin);
    for (std::uint64_t done = begin; done < end; ++part) {
      const std::uint64_t part_begin = arguments.sums[part];
      const std::uint64_t part_end = min(end, arguments.sums[part + 1]);
      if (part_end <= done) continue;
      const std::uint64_t listed = part / arguments.all.rule_count;
      const row_rule_view& rule = arguments.all.rules[part % arguments.all.rule_count];
      const std::uint32_t row = arguments.all.listed[listed];
      std::uint32_t* const bitmap = arguments.bitmaps + listed * arguments.stride;
      const std::uint64_t before = rule.sums[rule.begin[row]];
      for_each_word(rule, rule.begin[row], rule.end[row], before + (done - part_begin),
                    before + (part_end - part_begin), [&](std::uint64_t found) {
                      std::uint32_t* const place = bitmap + (found >> 32);
                      const auto mask = static_cast<std::uint32_t>(found);
                      if ((*static_cast<volatile std::uint32_t*>(place) & mask) != mask) atomicOr(place, mask);
                    });
      done = part_end;
    }
  }
}

/// Filters and counts the marked values; a second launch writes them. A tile belongs to one row.
/// @tparam Inserts whether results are added to a set
template <bool Writes, bool Inserts>
__global__ void __launch_bounds__(row_threads) bitmap_kernel(const bitmap_arguments arguments) {
  const unsigned lane = backend::gpu::lane();
  const std::uint64_t row_tiles = (arguments.stride + calibration::bitmap_tile - 1) / calibration::bitmap_tile;
  const std::uint64_t tiles = arguments.parts / arguments.all.rule_count * row_tiles;
  std::uint64_t sum = 0;
  std::uint64_t tile = std::uint64_t{blockIdx.x} * row_waves + backend::gpu::wave();
  for (; tile < tiles; tile += std::uint64_t{gridDim.x} * row_waves) {
    const std::uint64_t listed = tile / row_tiles;
    const word row_value = arguments.all.rows[arguments.all.listed[listed]];
    std::uint32_t* const bitmap = arguments.bitmaps + listed * arguments.stride;
    const std::uint64_t begin = tile % row_tiles * calibration::bitmap_tile;
    const std::uint64_t end = min(begin + calibration::bitmap_tile, arguments.stride);
    std::uint32_t count = 0;
    for (std::uint64_t number = begin + lane; number < end; number += wave_size) {
      const std::uint32_t mask = bitmap[number];
      if (!Writes && mask != 0 && (Inserts || arguments.all.filter_count != 0)) {
        bitmap[number] = results_of<Inserts>(arguments.all, row_value, static_cast<std::uint32_t>(number), mask);
        count += backend::gpu::count_bits(bitmap[number]);
      } else {
        count += backend::gpu::count_bits(mask);
      }
    }
    if constexpr (Writes) {
      count = backend::gpu::sum_of_lanes(count);
      if (count == 0) continue;
      std::uint64_t place = 0;
      if (lane == 0) place = atomicAdd(&arguments.all.totals->rows, static_cast<unsigned long long>(count));
      place = backend::gpu::shuffle(place, 0);
      for (std::uint64_t number = begin + lane; number < end; number += wave_size)
        place =
            write_words<Inserts>(arguments.all, row_value, static_cast<std::uint32_t>(number), bitmap[number], place);
    } else {
      sum += count;
    }
  }
  if (!Writes && sum != 0) atomicAdd(&arguments.all.totals->missing_rows, static_cast<unsigned long long>(sum));
}

}  // namespace gpulog::kernels::gpu
