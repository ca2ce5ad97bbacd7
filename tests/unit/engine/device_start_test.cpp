#include "engine/device_start.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <future>

namespace gpulog::detail {
namespace {

using std::chrono::hours;

TEST(device_start, does_not_begin_where_nobody_waits_for_it) {
  bool is_started = false;
  {
    const device_start start(
        [&] {
          is_started = true;
          return std::string();
        },
        hours(1));
    EXPECT_FALSE(start.has_begun());
    EXPECT_GT(start.ready_in(), 0.1);
  }
  EXPECT_FALSE(is_started);
}

TEST(device_start, begins_when_it_is_hurried) {
  std::promise<void> may_end;
  device_start start(
      [&] {
        may_end.get_future().wait();
        return std::string();
      },
      hours(1));
  start.hurry();
  while (!start.has_begun()) std::this_thread::yield();
  EXPECT_GT(start.ready_in(), 0);
  may_end.set_value();
  EXPECT_EQ(start.wait(), "");
  EXPECT_EQ(start.ready_in(), 0);
}

TEST(device_start, begins_by_itself_after_a_moment) {
  device_start start([] { return std::string(); }, std::chrono::milliseconds(1));
  while (start.ready_in() != 0) std::this_thread::yield();
  EXPECT_TRUE(start.has_begun());
}

TEST(device_start, knows_why_there_is_no_device) {
  device_start start([] { return std::string("it is elsewhere"); }, hours(1));
  EXPECT_EQ(start.wait(), "it is elsewhere");
  EXPECT_EQ(start.ready_in(), HUGE_VAL);
  EXPECT_EQ(start.wait(), "it is elsewhere");
}

}  // namespace
}  // namespace gpulog::detail
