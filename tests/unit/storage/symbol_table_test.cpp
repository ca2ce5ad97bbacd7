#include "storage/symbols/symbol_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_set>

namespace gpulog::storage {
namespace {

void run_serially(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t number = 0; number < count; ++number) work(number);
}

/// Every item on a thread of its own.
void run_on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < count; ++number) threads.emplace_back([&work, number] { work(number); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::string> random_texts(std::size_t count, std::size_t distinct, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t chosen = random() % distinct;
    texts.push_back(std::string(chosen % 70, static_cast<char>('a' + chosen % 7)) + std::to_string(chosen));
  }
  return texts;
}

TEST(symbol_table, numbers_in_order_of_first_interning) {
  symbol_table table;
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern(""), 1U);
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern("a"), 2U);
  EXPECT_EQ(table.text(0), "b");
  EXPECT_EQ(table.text(1), "");
  EXPECT_EQ(table.text(2), "a");
  EXPECT_EQ(table.find("a"), 2U);
  EXPECT_EQ(table.find("c"), std::nullopt);
  EXPECT_EQ(table.size(), 3U);
}

TEST(symbol_table, starts_with_the_constants) {
  const std::vector<std::string> constants{"z", "", "a"};
  symbol_table table(constants);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.find("a"), 2U);
  EXPECT_EQ(table.intern("new"), 3U);
}

TEST(symbol_table, keeps_every_byte) {
  symbol_table table;
  const std::string with_zero("a\0b", 3);
  const std::string long_text(10'000'000, 'x');
  EXPECT_EQ(table.intern("a"), 0U);
  EXPECT_EQ(table.intern(with_zero), 1U);
  EXPECT_EQ(table.intern(long_text), 2U);
  EXPECT_EQ(table.intern("\xff\xfe"), 3U);
  EXPECT_EQ(table.text(1), with_zero);
  EXPECT_EQ(table.text(2), long_text);
  EXPECT_EQ(table.text(3), "\xff\xfe");
}

TEST(symbol_table, texts_of_every_length) {
  symbol_table table;
  std::string text;
  for (word length = 0; length < 300; ++length) {
    ASSERT_EQ(table.intern(text), length);
    text += static_cast<char>('a' + length % 3);
  }
  for (std::size_t at = 0; at < 299; ++at) {  // one byte different at each place
    std::string other(299, 'q');
    other[at] = 'r';
    ASSERT_EQ(table.intern(other), 300 + at);
  }
}

TEST(symbol_table, grows) {
  symbol_table table;
  for (word id = 0; id < 200'000; ++id) ASSERT_EQ(table.intern("text " + std::to_string(id)), id);
  for (word id = 0; id < 200'000; ++id) {
    ASSERT_EQ(table.text(id), "text " + std::to_string(id));
    ASSERT_EQ(table.find("text " + std::to_string(id)), id);
  }
  EXPECT_GT(table.memory_bytes(), 200'000U * 20);
  EXPECT_LT(table.memory_bytes(), 200'000U * 50);
}

TEST(symbol_table, concurrent_interning_agrees_on_numbers) {
  symbol_table table;
  const std::vector<std::string> texts = random_texts(40'000, 5'000, 1);
  std::vector<std::vector<word>> ids(4, std::vector<word>(texts.size()));
  run_on_threads(4, [&](std::size_t thread) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::size_t at = (i + thread * 7'001) % texts.size();
      ids[thread][at] = table.intern(texts[at]);
      ASSERT_EQ(table.text(ids[thread][at]), texts[at]);
    }
  });
  const std::unordered_set<std::string> distinct(texts.begin(), texts.end());
  EXPECT_EQ(table.size(), distinct.size());
  for (std::size_t thread = 1; thread < 4; ++thread) EXPECT_EQ(ids[thread], ids[0]);
}

TEST(ordered_interning, numbers_as_one_thread_would) {
  for (const std::size_t parts : {1U, 2U, 3U, 7U}) {
    for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 20'000U}) {
      const std::vector<std::string> texts = random_texts(count, 3'000, 2);
      symbol_table expected;
      expected.intern("constant");
      symbol_table table;
      table.intern("constant");
      for (int round = 0; round < 2; ++round) {  // the second time everything is known, but for one text
        std::vector<word> numbers(texts.size());
        const std::string last = "last of round " + std::to_string(round);
        ordered_interning load(table);
        run_on_threads(parts, [&](std::size_t part) {
          auto& here = load.add_part(part * texts.size());
          for (std::size_t i = part * count / parts; i < (part + 1) * count / parts; ++i) {
            numbers[i] = here.intern(texts[i]);
            ASSERT_EQ(table.text(numbers[i]), texts[i]);
          }
          if (part + 1 == parts) here.intern(last);
        });
        load.finish(round == 0 ? parallel_runner(run_on_threads) : parallel_runner(run_serially));
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(load.resolve(numbers[i]), expected.intern(texts[i]));
        expected.intern(last);
      }
      ASSERT_EQ(table.size(), expected.size());
      for (word id = 0; id < table.size(); ++id) {
        ASSERT_EQ(table.text(id), expected.text(id));
        ASSERT_EQ(table.find(expected.text(id)), id);
      }
    }
  }
}

TEST(ordered_interning, parts_are_filled_in_any_order) {
  const std::vector<std::string> texts = random_texts(5'000, 900, 3);
  symbol_table expected;
  std::vector<word> expected_numbers;
  for (const std::string& text : texts) expected_numbers.push_back(expected.intern(text));
  symbol_table table;
  ordered_interning load(table);
  std::vector<word> numbers(texts.size());
  for (std::size_t begin = texts.size(); begin > 0;) {
    begin -= 500;
    auto& part = load.add_part(std::uint64_t{begin} << 40);
    for (std::size_t i = begin; i < begin + 500; ++i) numbers[i] = part.intern(texts[i]);
  }
  EXPECT_FALSE(load.has_replaced());
  load.finish(run_serially);
  EXPECT_TRUE(load.has_replaced());
  for (word& number : numbers) number = load.resolve(number);
  EXPECT_EQ(numbers, expected_numbers);
  for (word id = 0; id < expected.size(); ++id) ASSERT_EQ(table.find(expected.text(id)), id);
  EXPECT_EQ(table.intern("next"), expected.size());
}

TEST(symbol_table, numbers_that_none_has_are_no_text) {
  symbol_table table;
  EXPECT_EQ(table.text(0), "");
  table.intern("a");
  EXPECT_EQ(table.text(0), "a");
  for (const word id : {word{1}, word{1023}, word{1024}, word{0x7fffffff}, word{0xffffffff}}) {
    EXPECT_EQ(table.text(id), "") << id;
  }
}

TEST(ordered_interning, leaves_a_table_that_works_when_not_finished) {
  symbol_table table;
  {
    ordered_interning load(table);
    EXPECT_EQ(load.add_part(5).intern("b"), 0U);
    EXPECT_EQ(load.add_part(0).intern("a"), 1U);
  }
  EXPECT_EQ(table.intern("a"), 1U);
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern("c"), 2U);
}

std::string numbered_text(word number) { return "text " + std::to_string(number); }

TEST(symbol_table, memory_is_counted_and_without_it_the_table_stays_as_it_was) {
  backend::host_memory memory;
  symbol_table table(memory);
  EXPECT_EQ(memory.used(), 0U);
  constexpr word step = 1000;
  for (word next = 0; next < 20 * step;) {
    memory.set_limit(memory.used() + memory.used() / 2 + (64u << 10));
    try {
      for (; next < 20 * step; ++next) ASSERT_EQ(table.intern(numbered_text(next)), next);
    } catch (const backend::memory_exceeded&) {
      ASSERT_EQ(table.size(), next);
      ASSERT_FALSE(table.find(numbered_text(next)));
    }
  }
  for (word id = 0; id < 20 * step; ++id) ASSERT_EQ(table.find(numbered_text(id)), id);
  EXPECT_GE(memory.used(), table.memory_bytes());
  EXPECT_LT(memory.used(), 3 * table.memory_bytes());
  const std::uint64_t held = memory.used();
  table.free_outgrown();
  // Each of the hash tables had been half as large as the next one.
  EXPECT_LT(memory.used(), held - 20 * step * 8);
  for (word id = 0; id < 20 * step; ++id) ASSERT_EQ(table.find(numbered_text(id)), id);
}

TEST(symbol_table, assembles_long_texts_in_its_own_memory) {
  backend::host_memory memory;
  symbol_table table(memory);
  const auto assembled = [&table](std::size_t bytes, char letter) {
    return table.intern_assembled(bytes, [&](char* to) { std::fill_n(to, bytes, letter); });
  };
  for (const std::size_t bytes : {0u, 1u, 16383u, 16384u, 100'000u, 5'000'000u}) {
    const word number = assembled(bytes, 'a');
    EXPECT_EQ(table.text(number), std::string(bytes, 'a'));
    EXPECT_EQ(assembled(bytes, 'a'), number);
    EXPECT_EQ(table.intern(std::string(bytes, 'a')), number);
  }
  const std::uint64_t size = table.size();
  memory.set_limit(memory.used() + 6'000'000);
  EXPECT_EQ(table.text(assembled(5'000'000, 'b')), std::string(5'000'000, 'b'));
  EXPECT_THROW(assembled(5'000'000, 'c'), backend::memory_exceeded);
  EXPECT_THROW(assembled(std::size_t{1} << 32, 'd'), user_error);
  EXPECT_EQ(table.size(), size + 1);
}

TEST(ordered_interning, without_memory_leaves_a_table_that_works) {
  std::vector<std::string> texts;
  for (word number = 0; number < 5000; ++number) texts.push_back(numbered_text(number));
  int failed = 0;
  for (std::uint64_t limit = 1;; limit += 20000) {
    backend::host_memory memory;
    symbol_table table(memory);
    table.intern("before");
    memory.set_limit(memory.used() + limit);
    try {
      ordered_interning load(table);
      auto& last = load.add_part(5000);
      auto& first = load.add_part(0);
      for (const std::string& text : texts) last.intern(text);
      for (const std::string& text : texts) first.intern(text);
      load.finish(run_serially);
      for (word number = 0; number < 5000; ++number) ASSERT_EQ(table.find(texts[number]), number + 1);
      break;
    } catch (const backend::memory_exceeded&) {
      ++failed;
      ASSERT_EQ(table.find("before"), 0U);
      for (word number = 1; number < table.size(); ++number) ASSERT_EQ(table.find(texts[number - 1]), number);
    }
  }
  EXPECT_GT(failed, 5);
}

}  // namespace
}  // namespace gpulog::storage
