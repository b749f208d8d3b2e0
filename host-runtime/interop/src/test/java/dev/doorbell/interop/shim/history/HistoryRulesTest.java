package dev.doorbell.interop.shim.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the checker of histories finds, and what it lets pass. */
class HistoryRulesTest {
  private static List<String> broken(String... clients) {
    return History.of(List.of(clients).stream().map(each -> each.lines().toList()).toList())
        .broken();
  }

  @Test
  void additions_that_overlap_have_any_order_and_those_that_do_not_have_theirs() {
    String first = "begin 0 add 0 1 0 10\nend 0 %d %d";
    String second = "begin 0 add 0 2 0 20\nend 0 %d 40";
    assertThat(broken(first.formatted(2, 30), second.formatted(0))).isEmpty();
    assertThat(broken(first.formatted(0, 30), second.formatted(1))).isEmpty();
    assertThat(broken(first.formatted(2, 15), second.formatted(0))).hasSize(1);
  }

  @Test
  void a_lost_addition_and_one_that_was_executed_twice_are_found() {
    String end = "\nbegin 1 read 0 0 0 50\nend 1 %d 50";
    String one = "begin 0 add 0 1 0 10\nend 0 0 20";
    assertThat(broken(one + end.formatted(1))).isEmpty();
    assertThat(broken(one + end.formatted(0))).hasSize(1);
    assertThat(broken(one + end.formatted(2))).hasSize(1);
  }

  @Test
  void a_swap_succeeds_once() {
    String swap = "begin 0 cas 0 0 %d 10\nend 0 %d 20";
    assertThat(broken(swap.formatted(7, 0), swap.formatted(8, 7))).isEmpty();
    assertThat(broken(swap.formatted(7, 0), swap.formatted(8, 0))).hasSize(1);
  }

  @Test
  void what_has_no_end_was_executed_or_was_not_but_not_before_it_began() {
    String unknown = "begin 0 add 0 1 0 %d";
    String read = "begin 0 add 0 5 0 20\nend 0 %d 30";
    assertThat(broken(unknown.formatted(10), read.formatted(0))).isEmpty();
    assertThat(broken(unknown.formatted(10), read.formatted(1))).isEmpty();
    assertThat(broken(unknown.formatted(10), read.formatted(2))).hasSize(1);
    assertThat(broken(unknown.formatted(40), read.formatted(1))).hasSize(1);
  }

  /** Executed one after the other, whatever their beginnings and ends say to each other. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void any_history_that_was_executed_in_some_order_is_linearizable_until_one_answer_is_changed(
      long seed) {
    Random random = new Random(seed);
    List<Operation> operations = new ArrayList<>();
    long value = 0;
    for (int i = 0; i < 400; i++) {
      Operation.Kind kind = random.nextBoolean() ? Operation.Kind.ADD : Operation.Kind.CAS;
      long a = kind == Operation.Kind.ADD ? 1 + random.nextInt(9) : value - random.nextInt(2);
      long at = 100L * i;
      Operation begun =
          new Operation(
              i % 8, i, kind, 0, a, 1000 + i, at - random.nextInt(400), Long.MAX_VALUE, 0);
      operations.add(i % 100 == 99 ? begun : begun.ended(value, at + random.nextInt(400)));
      value = begun.apply(value);
    }
    Collections.shuffle(operations, random);
    assertThat(Linearizability.holds(operations)).as("seed %d", seed).isTrue();
    operations.replaceAll(
        each -> each.number() == 200 ? each.ended(each.value() + 1_000_000, each.end()) : each);
    assertThat(Linearizability.holds(operations)).as("seed %d", seed).isFalse();
  }

  @Test
  void a_read_sees_what_had_been_written_and_no_number_from_nowhere() {
    String write = "begin 0 write 6 1 0 10\nend 0 1 20\nbegin 1 write 6 2 0 30\nend 1 2 40";
    String read = "begin 0 read 6 0 0 25\nend 0 %d 35";
    assertThat(broken(write, read.formatted(1))).isEmpty();
    assertThat(broken(write, read.formatted(2))).isEmpty();
    assertThat(broken(write, read.formatted(0))).hasSize(1);
    assertThat(broken(write, read.formatted(3))).hasSize(1);
  }

  @Test
  void a_read_behind_a_write_of_its_queue_pair_sees_it_before_its_completion() {
    String own = "begin 0 write 6 1 0 10\nbegin 1 read 6 0 0 11\nend 1 %d 30";
    assertThat(broken(own.formatted(1))).isEmpty();
    assertThat(broken(own.formatted(0))).hasSize(1);
  }

  @Test
  void reads_do_not_go_back() {
    String write = "begin 0 write 6 1 0 10";
    String reads = "begin 0 read 6 0 0 20\nend 0 %d 30\nbegin 1 read 6 0 0 40\nend 1 %d 50";
    assertThat(broken(write, reads.formatted(0, 1))).isEmpty();
    assertThat(broken(write, reads.formatted(1, 0))).hasSize(1);
  }

  @Test
  void a_flag_comes_with_its_data() {
    String writes = "begin 0 write 6 1 0 10\nbegin 1 write 7 1 0 11";
    String reads = "begin 0 read 7 0 0 20\nbegin 1 read 6 0 0 21\nend 0 %d 30\nend 1 %d 31";
    assertThat(broken(writes, reads.formatted(0, 0))).isEmpty();
    assertThat(broken(writes, reads.formatted(0, 1))).isEmpty();
    assertThat(broken(writes, reads.formatted(1, 1))).isEmpty();
    assertThat(broken(writes, reads.formatted(1, 0))).hasSize(1);
  }
}
