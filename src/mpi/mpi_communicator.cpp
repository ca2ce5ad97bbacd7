// libgpulog_mpi.so: the communicator over MPI. A separate library, so that runs without ranks do not load MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "ranks/calibration.hpp"
#include "ranks/communicator.hpp"

namespace {

/// Counts of MPI 3 are int: longer messages have several parts.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;

/// Tags of messages between two ranks.
constexpr int text_tag = 0;
constexpr int warning_tag = 1;

using clock_type = std::chrono::steady_clock;

/// Waits for the end of a request. After the time of a slow link, the wait uses no processor; MPI_Wait would use one
/// throughout.
/// @param bytes of the message
/// @return seconds
double wait(MPI_Request& request, std::uint64_t bytes) {
  using namespace gpulog::ranks::calibration;
  constexpr std::chrono::microseconds first_pause{first_pause_microseconds};
  constexpr std::chrono::microseconds last_pause{last_pause_microseconds};
  const auto begin = clock_type::now();
  const auto seconds = [begin] { return std::chrono::duration<double>(clock_type::now() - begin).count(); };
  const double seconds_without_pause = static_cast<double>(bytes) / slow_link_bytes_per_second;
  int is_done = 0;
  do {
    for (int i = 0; i < tests_per_reading && is_done == 0; ++i) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  } while (is_done == 0 && seconds() < seconds_without_pause);
  for (auto pause = first_pause; is_done == 0; pause = std::min(2 * pause, last_pause)) {
    std::this_thread::sleep_for(pause);
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  }
  return seconds();
}

/// Calls transfer(data, bytes, request) for each part of a message, and waits for its end.
/// @return seconds
template <class Transfer>
double in_parts(char* data, std::uint64_t bytes, const Transfer& transfer) {
  double seconds = 0;
  for (std::uint64_t begin = 0; begin < bytes; begin += most_bytes) {
    const std::uint64_t part = std::min(most_bytes, bytes - begin);
    MPI_Request request = MPI_REQUEST_NULL;
    transfer(data + begin, static_cast<int>(part), &request);
    seconds += wait(request, part);
  }
  return seconds;
}

class mpi_communicator final : public gpulog::ranks::communicator {
 public:
  mpi_communicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm of_host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &of_host);
    MPI_Comm_rank(of_host, &rank_on_host_);
    MPI_Comm_free(&of_host);
  }
  ~mpi_communicator() override { MPI_Finalize(); }

  [[nodiscard]] unsigned rank() const override { return static_cast<unsigned>(rank_); }
  [[nodiscard]] unsigned size() const override { return static_cast<unsigned>(size_); }
  [[nodiscard]] unsigned rank_on_host() const override { return static_cast<unsigned>(rank_on_host_); }

  using communicator::broadcast;
  void broadcast(void* data, std::uint64_t bytes) override {
    traffic_.waiting_seconds += broadcast_from(0, data, bytes);
    if (rank_ == 0) {
      traffic_.sent_bytes += bytes * (size() - 1);
    } else {
      traffic_.received_bytes += bytes;
    }
  }

  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    const std::uint64_t bytes = text.size();
    std::vector<std::uint64_t> all(rank_ == 0 ? size() : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Igather(&bytes, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    traffic_.waiting_seconds += wait(request, sizeof(bytes));
    std::vector<std::string> texts;
    if (rank_ != 0) {
      traffic_.sent_bytes += bytes;
      traffic_.waiting_seconds +=
          in_parts(const_cast<char*>(text.data()), bytes, [](char* part, int count, MPI_Request* sent) {
            MPI_Isend(part, count, MPI_BYTE, 0, text_tag, MPI_COMM_WORLD, sent);
          });
      return texts;
    }
    texts.push_back(text);
    for (int from = 1; from < size_; ++from) {
      std::string& received = texts.emplace_back(all[static_cast<std::size_t>(from)], '\0');
      traffic_.received_bytes += received.size();
      traffic_.waiting_seconds +=
          in_parts(received.data(), received.size(), [from](char* part, int count, MPI_Request* receiving) {
            MPI_Irecv(part, count, MPI_BYTE, from, text_tag, MPI_COMM_WORLD, receiving);
          });
    }
    return texts;
  }

  [[nodiscard]] std::vector<std::string> gather_everywhere(const std::string& text) override {
    // Short texts need a single message.
    head own{.bytes = text.size()};
    text.copy(own.first_bytes.data(), own.first_bytes.size());
    std::vector<head> heads(size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&own, sizeof(head), MPI_BYTE, heads.data(), sizeof(head), MPI_BYTE, MPI_COMM_WORLD, &request);
    traffic_.waiting_seconds += wait(request, sizeof(head));
    std::vector<std::string> texts;
    for (const head& one : heads)
      texts.emplace_back(one.first_bytes.data(), std::min<std::uint64_t>(one.bytes, one.first_bytes.size()));
    for (int from = 0; from < size_; ++from) {
      std::string& one = texts[static_cast<std::size_t>(from)];
      const std::uint64_t bytes = heads[static_cast<std::size_t>(from)].bytes;
      if (from == rank_) {
        one = text;
        traffic_.sent_bytes += bytes * (size() - 1);
      } else {
        one.resize(bytes);
        traffic_.received_bytes += bytes;
      }
      const std::uint64_t known = std::min<std::uint64_t>(bytes, own.first_bytes.size());
      traffic_.waiting_seconds += broadcast_from(from, one.data() + known, bytes - known);
    }
    return texts;
  }

  void warn() override {
    for (int to = 0; to < size_; ++to) {
      if (to == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(nullptr, 0, MPI_BYTE, to, warning_tag, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
  }
  [[nodiscard]] bool is_warned() override {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, warning_tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    return is_there != 0;
  }
  void take_warning(unsigned rank) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(rank), warning_tag, MPI_COMM_WORLD, &request);
    traffic_.waiting_seconds += wait(request, 0);
  }

 private:
  /// The size of a text and its first bytes, 256 bytes together; no other size was tried.
  struct head {
    std::uint64_t bytes = 0;
    std::array<char, 248> first_bytes = {};
  };

  /// @return seconds of waiting
  static double broadcast_from(int rank, void* data, std::uint64_t bytes) {
    return in_parts(static_cast<char*>(data), bytes, [rank](char* part, int count, MPI_Request* request) {
      MPI_Ibcast(part, count, MPI_BYTE, rank, MPI_COMM_WORLD, request);
    });
  }

  int rank_ = 0;
  int size_ = 1;
  int rank_on_host_ = 0;
};

}  // namespace

#if defined(OPEN_MPI)
extern "C" __attribute__((visibility("default"))) const bool gpulog_mpi_is_open_mpi = true;
#else
extern "C" __attribute__((visibility("default"))) const bool gpulog_mpi_is_open_mpi = false;
#endif

extern "C" __attribute__((visibility("default"))) gpulog::ranks::communicator* gpulog_join_ranks() {
  int is_started = 0;
  MPI_Initialized(&is_started);
  int provided = MPI_THREAD_SINGLE;
  if (is_started != 0 || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    return nullptr;
  if (provided < MPI_THREAD_SERIALIZED) return nullptr;
  return new mpi_communicator;
}
