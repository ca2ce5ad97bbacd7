# Labels of the tests that GoogleTest lists, and which of them start first. ctest includes this file after the lists; a
# property of gtest_discover_tests would label all tests of a target alike.

# Suites whose tests also run on a device, if there is one.
set(suites_on_devices again engine_against_oracle goals numbered_fixpoints plan_figures proofs proofs_of_random_programs
                      recursive_aggregates_against_oracle registered_functor rows sessions subsumption typed_values)
list(JOIN suites_on_devices "|" suites_on_devices)

# Suites that take long with sanitizers. In each turn (GPULOG_TEST_TURN), half of the tests of these suites and half of
# all tests with parameters have the label other-turn, which scripts/test excludes under sanitizers.
set(suites_in_turns again changes condensed dense_domain_encoding device_columns engine_against_oracle equivalence factorized
                    first_matches_on_gpu inlining matrix_reads proofs relation_writer row_difference row_products_on_gpu
                    row_takeover_on_gpu rows state word_rows)
list(JOIN suites_in_turns "|" suites_in_turns)

foreach(target IN ITEMS test_support test_syntax test_sema test_plan test_backend test_storage test_kernels test_io test_exec
                        test_engine test_gpu test_oracle)
  foreach(test IN LISTS ${target}_TESTS)
    set(labels "")
    # Tests that run code of a device.
    if(target STREQUAL "test_gpu" OR test MATCHES "gpu|device|^(${suites_on_devices})\\.")
      list(APPEND labels gpu)
    endif()
    # Tests that builds with sanitizers skip: the slowest ones, and tests that repeat others with more data.
    if(test MATCHES "_release_only")
      list(APPEND labels release-only)
      set_tests_properties("${test}" PROPERTIES COST 50)
    endif()
    if(DEFINED ENV{GPULOG_TEST_TURN} AND test MATCHES "[/<]|^(${suites_in_turns})\\.")
      string(MD5 digest "${test}")
      string(SUBSTRING "${digest}" 0 4 digest)
      math(EXPR turn "(0x${digest} + $ENV{GPULOG_TEST_TURN}) % 2")
      if(turn)
        list(APPEND labels other-turn)
      endif()
    endif()
    if(labels)
      set_tests_properties("${test}" PROPERTIES LABELS "${labels}")
    endif()
  endforeach()
endforeach()
