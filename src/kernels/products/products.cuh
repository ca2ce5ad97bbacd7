#pragma once

#include <cstdint>

#include "kernels/join/wave_share.cuh"
#include "kernels/products/products.hpp"
#include "kernels/search/row_bits.cuh"

/// Rounds of a product recursion, one block per row. Rows only grow, so a block may read a row while it grows; bits
/// missed in this round are read in the next round. A due row waits for other due rows that it reads, as long as enough
/// rows are ready: without cycles, each row is then computed only once.
namespace gpulog::kernels::gpu {

constexpr unsigned product_list_threads = 256;

/// Starts a round: lists the due rows, roughly in order.
__global__ void __launch_bounds__(product_list_threads)
    list_due_kernel(const GPULOG_GRID_CONSTANT product_arguments arguments) {
  constexpr std::uint32_t none = UINT32_MAX;
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t waves = product_list_threads / wave_size;
  for (std::uint32_t first = (blockIdx.x * waves + backend::gpu::wave()) * wave_size; first < arguments.numbers;
       first += gridDim.x * product_list_threads) {
    const std::uint32_t number = first + lane;
    const bool is_due = number < arguments.numbers && arguments.is_due[number] != 0;
    const backend::gpu::lane_mask due = backend::gpu::ballot(is_due);
    if (due == 0) continue;
    std::uint32_t waits[wave_size / word_bits] = {};  // bits by lane
    for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
      const product_rule_view& rule = arguments.rules[r];
      if (!rule.is_recursive || rule.left.of == nullptr) continue;
      const number_list list = is_due ? rule.left.of[number] : number_list{0, 0};
      share_ranges_of<2>(
          list.first, list.count,
          [&](std::uint32_t position) {
            const word read = rule.left.all[position];
            return arguments.is_due[read] != 0 ? read : none;
          },
          [&](bool is_there, word read, unsigned owner) {
            if (is_there && read != none && read != first + owner) waits[owner / word_bits] |= 1U << owner % word_bits;
          });
    }
    bool is_ready = is_due;
    for (std::uint32_t part = 0; part < wave_size / word_bits; ++part) {
      const std::uint32_t all = backend::gpu::union_of_lanes(waits[part]);
      if (lane / word_bits == part && (all >> lane % word_bits & 1) != 0) is_ready = false;
    }
    const backend::gpu::lane_mask ready = backend::gpu::ballot(is_ready);
    std::uint32_t due_place = 0;
    std::uint32_t ready_place = 0;
    if (lane == 0) {
      due_place = atomicAdd(&arguments.counts->due, backend::gpu::count_bits(due));
      if (ready != 0) ready_place = atomicAdd(&arguments.counts->ready, backend::gpu::count_bits(ready));
    }
    due_place = backend::gpu::shuffle(due_place, 0);
    ready_place = backend::gpu::shuffle(ready_place, 0);
    if (is_due) arguments.due[due_place + backend::gpu::rank_in(due)] = number;
    if (is_ready) arguments.ready[ready_place + backend::gpu::rank_in(ready)] = number;
  }
}

/// State of a block, in shared memory.
struct product_block {
  std::uint32_t place;       ///< position in the list
  std::uint32_t next_place;  ///< position of the next row in the list
  std::uint32_t next_number;
  std::uint32_t next_visited;
  std::uint32_t number;                      ///< row
  std::uint32_t visited;                     ///< last round that computed this row
  std::uint32_t fresh;                       ///< number of bits added
  std::uint32_t united[most_product_rules];  ///< number of new union bits, by rule
};

/// Unites the changed groups of the rows that this row reads. All threads call this.
/// @return whether the wave found any group
__device__ inline bool unite_changed(const product_arguments& arguments, const number_lists& left,
                                     const product_block& own, std::uint32_t* united) {
  constexpr unsigned at_once = 4;
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t waves = blockDim.x / wave_size;
  const number_list list = left.of == nullptr ? number_list{0, 1} : left.of[own.number];
  const std::uint32_t pairs = list.count * arguments.groups;
  bool found = false;
  // Each lane checks a pair of row and group, spread over the waves; then the wave reads the changed groups one by one.
  for (std::uint32_t begin = backend::gpu::wave(); begin < pairs; begin += waves * wave_size) {
    const std::uint32_t pair = begin + lane * waves;
    std::uint32_t read = 0;
    std::uint32_t group = 0;
    bool has_changed = false;
    if (pair < pairs) {
      const std::uint32_t place = pair / arguments.groups;
      group = pair - place * arguments.groups;
      read = left.of == nullptr ? own.number : left.all[list.first + place];
      const std::uint32_t stamp =
          backend::gpu::load_past_first_cache(arguments.stamps + std::uint64_t{read} * arguments.groups + group);
      has_changed = stamp != 0 && stamp >= own.visited;
    }
    for (backend::gpu::lane_mask rest = backend::gpu::ballot(has_changed); rest != 0;) {
      std::uint32_t loaded[at_once];
      std::uint32_t groups[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        loaded[k] = groups[k] = 0;
        if (rest == 0) continue;
        const unsigned owner = backend::gpu::lowest_bit(rest);
        rest &= rest - 1;
        groups[k] = backend::gpu::shuffle(group, owner);
        const std::uint64_t row = backend::gpu::shuffle(read, owner);
        loaded[k] = backend::gpu::load_past_first_cache(arguments.rows +
                                                        (row * arguments.groups + groups[k]) * wave_size + lane);
      }
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        if (loaded[k] != 0) atomicOr(united + groups[k] * wave_size + lane, loaded[k]);
      }
      found = true;
    }
  }
  return found;
}

/// Adds the numbers of the left side to the union, for rules without a recursive atom. All threads call this.
/// @return whether any number exists
__device__ inline bool unite_left(const number_lists& left, std::uint32_t number, std::uint32_t* united) {
  const number_list list = left.of[number];
  for (std::uint32_t i = threadIdx.x; i < list.count; i += blockDim.x) set_bit(united, left.all[list.first + i]);
  return list.count != 0;
}

/// Reduces the union to new bits and counts them. All threads call this.
__device__ inline void leave_new(const product_arguments& arguments, const product_rule_view& rule,
                                 std::uint32_t number, std::uint32_t* united, std::uint32_t& sum) {
  const std::uint32_t lane = backend::gpu::lane();
  std::uint32_t own = 0;
  for (std::uint32_t group = backend::gpu::wave(); group < arguments.groups; group += blockDim.x / wave_size) {
    std::uint32_t bits = united[group * wave_size + lane];
    if (bits == 0) continue;
    if (rule.followed != nullptr) {
      std::uint32_t* const followed =
          rule.followed + (std::uint64_t{number} * arguments.groups + group) * wave_size + lane;
      const std::uint32_t known = *followed;
      united[group * wave_size + lane] = bits &= ~known;
      if (bits != 0) *followed = known | bits;
    }
    own += backend::gpu::count_bits(bits);
  }
  own = backend::gpu::sum_of_lanes(own);
  if (lane == 0 && own != 0) atomicAdd(&sum, own);
}

/// Sets the bits of all successors of a group's staged numbers. All lanes call this.
__device__ inline void follow_staged(const number_lists& right, std::uint32_t first_number, const std::uint16_t* staged,
                                     std::uint32_t n, std::uint32_t* reached, unsigned long long& candidates) {
  constexpr unsigned at_once = 4;
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t begin = 0; begin < n; begin += wave_size * at_once) {
    number_list lists[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t i = begin + k * wave_size + lane;
      lists[k] = i < n ? right.of[first_number + staged[i]] : number_list{0, 0};
    }
    std::uint32_t sum = 0;
    std::uint32_t longest = 0;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      sum += lists[k].count;
      longest = max(longest, lists[k].count);
    }
    candidates += sum;
    longest = backend::gpu::greatest_of_lanes(longest);
    // If the lists have similar lengths, each lane processes its own lists; otherwise the lanes share all lists.
    if (longest * (wave_size * 3 / 4) <= backend::gpu::sum_of_lanes(sum) + 100) {
      for (std::uint32_t i = 0; i < longest; ++i) {
        std::uint32_t numbers[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
          numbers[k] = i < lists[k].count ? right.all[lists[k].first + i] : UINT32_MAX;
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
          if (numbers[k] != UINT32_MAX) atomicOr(reached + numbers[k] / word_bits, 1U << numbers[k] % word_bits);
        }
      }
    } else {
      for (unsigned k = 0; k < at_once; ++k) {
        share_ranges<2>(
            lists[k].first, lists[k].count, [&](std::uint32_t position) { return right.all[position]; },
            [&](bool is_there, word number) {
              if (is_there && !has_bit(reached, number)) set_bit(reached, number);
            });
      }
    }
  }
}

/// Splits groups so that all waves of the block have work.
[[nodiscard]] __device__ inline std::uint32_t parts_of_groups(std::uint32_t groups) {
  const std::uint32_t waves = blockDim.x / wave_size;
  return groups >= 2 * waves ? 1 : groups >= waves ? 2 : 4;
}

/// Push: marks the successors of the union's bits, and clears the union. All threads call this.
__device__ inline void push_union(const product_arguments& arguments, const product_rule_view& rule,
                                  std::uint32_t* united, std::uint32_t* reached, std::uint16_t* staged,
                                  unsigned long long& candidates) {
  const std::uint32_t lane = backend::gpu::lane();
  const std::uint32_t parts = parts_of_groups(arguments.groups);
  for (std::uint32_t item = backend::gpu::wave(); item < arguments.groups * parts; item += blockDim.x / wave_size) {
    const std::uint32_t group = item / parts;
    const bool is_own = lane / (wave_size / parts) == item % parts;
    const std::uint32_t bits = is_own ? united[group * wave_size + lane] : 0;
    if (!backend::gpu::any_lane(bits != 0)) continue;
    if (is_own) united[group * wave_size + lane] = 0;
    const std::uint32_t size = backend::gpu::count_bits(bits);
    if (rule.right.of == nullptr) {
      candidates += size;
      if (bits != 0) reached[group * wave_size + lane] |= bits;
      continue;
    }
    const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(size);
    list_group(bits, sum - size, staged);
    follow_staged(rule.right, group * group_numbers, staged, backend::gpu::shuffle(sum, wave_size - 1), reached,
                  candidates);
    backend::gpu::wave_barrier();
  }
}

/// Returns whether the union contains a source of a value; all lanes search together.
__device__ inline bool has_source(const number_lists& sources, number_list list, const std::uint32_t* united) {
  bool found = false;
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t begin = 0; begin < list.count && !found; begin += wave_size) {
    const std::uint32_t i = begin + lane;
    found = backend::gpu::any_lane(i < list.count && has_bit(united, sources.all[list.first + i]));
  }
  return found;
}

/// Pull, for a union with many bits: searches the sources of each value missing in the row until one source is in the
/// union. Keeps the union. All threads call this.
__device__ inline void pull_union(const product_arguments& arguments, const number_lists& sources, std::uint32_t number,
                                  const std::uint32_t* united, std::uint32_t* reached, unsigned long long& candidates) {
  constexpr std::uint32_t long_list = 128;
  constexpr unsigned at_once = 4;
  constexpr std::uint32_t words = wave_size / word_bits;           // for one bit per lane
  constexpr std::uint32_t pieces = wave_size / (words * at_once);  // per group
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t item = backend::gpu::wave(); item < arguments.groups * pieces; item += blockDim.x / wave_size) {
    const std::uint32_t group = item / pieces;
    const std::uint32_t first_word = item % pieces * words * at_once;
    const std::uint32_t known =
        arguments.has_words ? arguments.rows[(std::uint64_t{number} * arguments.groups + group) * wave_size + lane] : 0;
    number_list lists[at_once];
    std::uint32_t is_open = 0;  // bits by word
    std::uint32_t is_found = 0;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint32_t at = first_word + k * words + lane / word_bits;
      const std::uint32_t value = (group * wave_size + at) * word_bits + lane % word_bits;
      const std::uint32_t bits = backend::gpu::shuffle(known, at);
      const bool is_asked = value < arguments.numbers && (bits >> value % word_bits & 1) == 0 &&
                            !(arguments.without_equal && value == number);
      lists[k] = is_asked ? sources.of[value] : number_list{0, 0};
      if (lists[k].count != 0) is_open |= 1U << k;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      for (backend::gpu::lane_mask rest = backend::gpu::ballot(lists[k].count >= long_list); rest != 0;
           rest &= rest - 1) {
        const unsigned owner = backend::gpu::lowest_bit(rest);
        const bool has = has_source(
            sources, {backend::gpu::shuffle(lists[k].first, owner), backend::gpu::shuffle(lists[k].count, owner)},
            united);
        if (lane != owner) continue;
        if (has) is_found |= 1U << k;
        is_open &= ~(1U << k);
      }
    }
    for (std::uint32_t i = 0; backend::gpu::any_lane(is_open != 0); ++i) {
      std::uint32_t asked[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        asked[k] = (is_open >> k & 1) != 0 ? sources.all[lists[k].first + i] : UINT32_MAX;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        if (asked[k] == UINT32_MAX) continue;
        ++candidates;
        const bool has = has_bit(united, asked[k]);
        if (has) is_found |= 1U << k;
        if (has || i + 1 == lists[k].count) is_open &= ~(1U << k);
      }
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const backend::gpu::lane_mask found = backend::gpu::ballot((is_found >> k & 1) != 0);
      if (lane < words) {
        const auto bits = static_cast<std::uint32_t>(found >> lane * word_bits);
        if (bits != 0) reached[group * wave_size + first_word + k * words + lane] |= bits;
      }
    }
    backend::gpu::wave_barrier();
  }
}

/// All threads call this after a barrier.
__device__ inline void follow_union(const product_arguments& arguments, std::uint32_t r, const product_block& own,
                                    std::uint32_t* united, std::uint32_t* reached, std::uint16_t* staged,
                                    unsigned long long& candidates) {
  const product_rule_view& rule = arguments.rules[r];
  const bool pulls =
      rule.right.of != nullptr && std::uint64_t{own.united[r]} * rule.pull_factor >= std::uint64_t{arguments.numbers};
  if (!pulls) {
    push_union(arguments, rule, united, reached, staged, candidates);
    return;
  }
  pull_union(arguments, rule.sources, own.number, united, reached, candidates);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < arguments.groups * wave_size; i += blockDim.x) united[i] = 0;
}

/// Adds the reached bits to the row and clears them. All threads call this.
__device__ inline void add_reached(const product_arguments& arguments, std::uint32_t* reached, product_block& own) {
  const std::uint32_t number = own.number;
  const std::uint32_t lane = backend::gpu::lane();
  for (std::uint32_t group = backend::gpu::wave(); group < arguments.groups; group += blockDim.x / wave_size) {
    std::uint32_t bits = reached[group * wave_size + lane];
    if (!backend::gpu::any_lane(bits != 0)) continue;
    reached[group * wave_size + lane] = 0;
    if (arguments.without_equal && number / word_bits == group * wave_size + lane) bits &= ~(1U << number % word_bits);
    std::uint32_t* const row = arguments.rows + (std::uint64_t{number} * arguments.groups + group) * wave_size + lane;
    if (bits != 0 && arguments.has_words) {
      const std::uint32_t known = *row;
      bits &= ~known;
      if (bits != 0) *row = known | bits;
    }
    const std::uint32_t fresh = backend::gpu::sum_of_lanes(std::uint32_t{backend::gpu::count_bits(bits)});
    if (!arguments.has_words && fresh != 0) *row = bits;
    if (lane == 0 && fresh != 0) {
      arguments.stamps[std::uint64_t{number} * arguments.groups + group] = arguments.round;
      atomicAdd(&own.fresh, fresh);
    }
  }
}

/// Marks the rows that read this row as due. All threads call this after a barrier.
__device__ inline void tell_readers(const product_arguments& arguments, const product_block& own) {
  if (own.fresh == 0) return;
  if (threadIdx.x == 0) arguments.sizes[own.number] += own.fresh;
  __threadfence();  // the new bits are visible before the readers become due
  for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
    if (!arguments.rules[r].is_recursive) continue;
    const number_lists& readers = arguments.rules[r].readers;
    if (readers.of == nullptr) {
      if (threadIdx.x == 0) arguments.is_due[own.number] = 1;
      continue;
    }
    const number_list list = readers.of[own.number];
    for (std::uint32_t i = threadIdx.x; i < list.count; i += blockDim.x)
      arguments.is_due[readers.all[list.first + i]] = 1;
  }
}

/// Arrays of a block, zero between rows.
struct product_arrays {
  std::uint32_t* united;
  std::uint32_t* reached;
  std::uint16_t* staged;  ///< buffer for the wave's listed numbers
};

/// Computes the current results of all rules for a row and adds them. All threads call this after a barrier; it ends
/// with a barrier.
__device__ inline void make_row(const product_arguments& arguments, product_block& own, const product_arrays& arrays,
                                unsigned long long& candidates) {
  bool has_reached = false;
  for (std::uint32_t r = 0; r < arguments.rule_count; ++r) {
    const product_rule_view& rule = arguments.rules[r];
    bool is_united = own.visited == 0 && rule.is_first && unite_left(rule.left, own.number, arrays.united);
    if (rule.is_recursive && unite_changed(arguments, rule.left, own, arrays.united)) is_united = true;
    if (__syncthreads_or(is_united ? 1 : 0) == 0) continue;
    leave_new(arguments, rule, own.number, arrays.united, own.united[r]);
    __syncthreads();
    if (own.united[r] == 0) continue;
    has_reached = true;
    follow_union(arguments, r, own, arrays.united, arrays.reached, arrays.staged, candidates);
    __syncthreads();
  }
  if (has_reached) add_reached(arguments, arrays.reached, own);
  __syncthreads();
}

/// Requests the next row of a list, with one thread.
__device__ inline void ask_for_row(const product_arguments& arguments, const std::uint32_t* list, std::uint32_t size,
                                   product_block& own) {
  own.next_place = atomicAdd(&arguments.counts->next, 1U);
  if (own.next_place >= size) return;
  own.next_number = list[own.next_place];
  own.next_visited = arguments.visited[own.next_number];
}

/// Takes the requested row, with the same thread.
__device__ inline void take_row(const product_arguments& arguments, std::uint32_t size, product_block& own) {
  own.place = own.next_place;
  own.fresh = 0;
  for (std::uint32_t& united : own.united) united = 0;
  if (own.place >= size) return;
  own.number = own.next_number;
  own.visited = own.next_visited;
  arguments.visited[own.number] = arguments.round;
  // Marks set from here on cause a new computation of the row; bits written before earlier marks are visible.
  atomicExch(arguments.is_due + own.number, 0U);
  __threadfence();
}

/// Returns the bytes of shared memory per block: two rows, and a buffer of listed numbers per wave.
[[nodiscard]] inline std::size_t product_bytes(std::uint32_t groups, unsigned threads) {
  return 2 * groups * std::size_t{wave_size} * sizeof(std::uint32_t) + threads / wave_size * sizeof(staged_numbers);
}

/// Returns the arrays in shared memory, zero after the next barrier. All threads call this.
[[nodiscard]] __device__ inline product_arrays arrays_in(std::uint32_t* memory, std::uint32_t groups) {
  const std::uint32_t row_words = groups * wave_size;
  for (std::uint32_t i = threadIdx.x; i < 2 * row_words; i += blockDim.x) memory[i] = 0;
  return {memory, memory + row_words,
          reinterpret_cast<std::uint16_t*>(memory + 2 * row_words) + backend::gpu::wave() * group_numbers};
}

constexpr unsigned most_product_threads = 1024;

__global__ void __launch_bounds__(most_product_threads, 1)
    product_round_kernel(const GPULOG_GRID_CONSTANT product_arguments arguments) {
  GPULOG_DYNAMIC_SHARED(std::uint32_t, product_memory);
  GPULOG_SHARED(product_block, own);
  const product_arguments::round_counts& counts = *arguments.counts;
  const bool waits = counts.ready >= arguments.enough_ready;
  const std::uint32_t* const list = waits ? arguments.ready : arguments.due;
  const std::uint32_t size = waits ? counts.ready : counts.due;
  if (blockIdx.x >= size || (size <= arguments.narrow_rows) != arguments.is_narrow) return;
  unsigned long long candidates = 0;
  const product_arrays arrays = arrays_in(product_memory, arguments.groups);
  if (threadIdx.x == 0) {
    ask_for_row(arguments, list, size, own);
    take_row(arguments, size, own);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) arguments.counts->visited = size;
  __syncthreads();
  while (own.place < size) {
    // A different wave than the wave with the most work.
    if (threadIdx.x == blockDim.x - 1) ask_for_row(arguments, list, size, own);
    make_row(arguments, own, arrays, candidates);
    tell_readers(arguments, own);
    __syncthreads();
    if (threadIdx.x == 0) take_row(arguments, size, own);
    __syncthreads();
  }
  candidates = backend::gpu::sum_of_lanes(std::uint64_t{candidates});
  if (backend::gpu::lane() == 0 && candidates != 0) atomicAdd(&arguments.counts->candidates, candidates);
}

}  // namespace gpulog::kernels::gpu
