#include "cli/test/test_processes.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/interrupt.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"

namespace gpulog::cli {
namespace {

using clock = std::chrono::steady_clock;

/// Time between the signal that ends a test and the signal that ends its process at once.
constexpr auto grace_period = std::chrono::seconds(2);

std::string new_scratch_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "gpulog-test-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw input_error("Cannot create a folder " + path);
  return path;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

/// Checks a test in a new process, and sends the result.
[[noreturn]] void run_child(const test_case& test, const std::string& scratch, int output,
                            const std::function<test_result(const test_case&, const std::string&)>& run) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  watch_signals();
  test_result result;
  try {
    result = run(test, scratch);
  } catch (const cancelled_error& place) {
    result.fail(test.program, "No result within the time limit", place.what());
  } catch (const std::exception& failure) {
    result.fail(test.program, "The test failed", failure.what());
  }
  const std::vector<std::uint8_t> bytes = to_bytes(result);
  try {
    io::write_bytes(output, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "the result of a test");
  } catch (const error&) {
    _exit(1);  // the parent has ended
  }
  _exit(0);
}

/// Reports signals that end the process as input of a descriptor, during the lifetime of this object.
class ending_signals {
 public:
  ending_signals() {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      const bool is_ignored = ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
      if (!is_ignored) sigaddset(&signals_, number);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
  }
  ending_signals(const ending_signals&) = delete;
  ending_signals& operator=(const ending_signals&) = delete;
  ~ending_signals() {
    ::close(descriptor_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Ends the process by the signal that the descriptor has reported.
  void end_process() const {
    signalfd_siginfo received{};
    if (::read(descriptor_, &received, sizeof received) != sizeof received) return;
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    ::raise(static_cast<int>(received.ssi_signo));
  }

 private:
  sigset_t signals_{}, before_{};
  int descriptor_;
};

/// A test that runs.
struct running_test {
  std::size_t number;
  pid_t process;
  int input;
  std::string scratch;
  clock::time_point begin, deadline;
  bool is_signalled = false;
  std::vector<std::uint8_t> bytes = {};
};

class test_runner {
 public:
  test_runner(const std::vector<test_case>& tests, double timeout,
              const std::function<test_result(const test_case&, const std::string&)>& run)
      : tests_(tests), timeout_(timeout), run_(run), results_(tests.size()) {}

  std::vector<test_result> run(std::size_t jobs,
                               const std::function<void(const test_case&, const test_result&)>& report) {
    std::size_t started = 0, reported = 0;
    while (reported < tests_.size()) {
      while (running_.size() < jobs && started < tests_.size()) start(started++);
      wait();
      for (; reported < tests_.size() && results_[reported]; ++reported) report(tests_[reported], *results_[reported]);
    }
    std::vector<test_result> all;
    for (auto& result : results_) all.push_back(std::move(*result));
    return all;
  }

 private:
  void start(std::size_t number) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw input_error(fmt::format("Cannot start a test: {}", ::strerror(errno)));
    const std::string scratch = new_scratch_folder();
    std::fflush(stdout);
    const pid_t process = ::fork();
    if (process < 0) throw input_error(fmt::format("Cannot start a test: {}", ::strerror(errno)));
    if (process == 0) {
      ::close(ends[0]);
      run_child(tests_[number], scratch, ends[1], run_);
    }
    ::close(ends[1]);
    const auto begin = clock::now();
    running_.push_back({number, process, ends[0], scratch, begin,
                        begin + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(timeout_))});
  }

  /// Waits until a test sends bytes, ends or reaches its deadline.
  void wait() {
    std::vector<pollfd> inputs;
    clock::time_point next = clock::time_point::max();
    for (const running_test& one : running_) {
      inputs.push_back({one.input, POLLIN, 0});
      next = std::min(next, one.deadline);
    }
    inputs.push_back({signals_.descriptor(), POLLIN, 0});
    constexpr std::chrono::milliseconds longest(60'000);
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    const auto limit = std::clamp(rest, std::chrono::milliseconds(0), longest);
    ::poll(inputs.data(), inputs.size(), static_cast<int>(limit.count()));
    if (inputs.back().revents != 0) stop();
    std::size_t place = 0;
    for (auto one = running_.begin(); one != running_.end(); ++place) {
      const bool has_ended = inputs[place].revents != 0 && !read_some(*one);
      if (has_ended) {
        finish(*one);
        one = running_.erase(one);
        continue;
      }
      if (clock::now() >= one->deadline) end(*one);
      ++one;
    }
  }

  /// @return false at the end of the bytes
  static bool read_some(running_test& one) {
    std::uint8_t block[65536];
    const ssize_t count = ::read(one.input, block, sizeof block);
    if (count < 0 && errno == EINTR) return true;
    if (count > 0) one.bytes.insert(one.bytes.end(), block, block + count);
    return count > 0;
  }

  static void end(running_test& one) {
    ::kill(one.process, one.is_signalled ? SIGKILL : SIGTERM);
    one.is_signalled = true;
    one.deadline = clock::now() + grace_period;
  }

  /// After a signal: ends all tests and this process.
  void stop() {
    for (const running_test& one : running_) {
      ::kill(one.process, SIGKILL);
      ::waitpid(one.process, nullptr, 0);
      remove_folder(one.scratch);
    }
    running_.clear();
    signals_.end_process();
  }

  void finish(running_test& one) {
    ::close(one.input);
    int status = 0;
    while (::waitpid(one.process, &status, 0) < 0 && errno == EINTR) {
    }
    remove_folder(one.scratch);
    test_result result;
    const std::string& program = tests_[one.number].program;
    const bool is_complete = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (is_complete) {
      result = result_from_bytes(one.bytes);
    } else if (one.is_signalled) {
      result.fail(program, "No result within the time limit");
    } else {
      const char* const name = WIFSIGNALED(status) ? ::sigabbrev_np(WTERMSIG(status)) : nullptr;
      result.fail(program, name == nullptr ? fmt::format("The process ended with status {}", WEXITSTATUS(status))
                                           : fmt::format("The process was ended by SIG{}", name));
    }
    result.seconds = std::chrono::duration<double>(clock::now() - one.begin).count();
    results_[one.number] = std::move(result);
  }

  const std::vector<test_case>& tests_;
  double timeout_;
  ending_signals signals_;
  const std::function<test_result(const test_case&, const std::string&)>& run_;
  std::list<running_test> running_;
  std::vector<std::optional<test_result>> results_;
};

}  // namespace

std::vector<test_result> run_tests(const std::vector<test_case>& tests, std::size_t jobs, double timeout,
                                   const std::function<test_result(const test_case&, const std::string&)>& run,
                                   const std::function<void(const test_case&, const test_result&)>& report) {
  return test_runner(tests, timeout, run).run(std::max<std::size_t>(jobs, 1), report);
}

}  // namespace gpulog::cli
