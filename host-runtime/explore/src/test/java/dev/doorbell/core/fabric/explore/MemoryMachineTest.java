package dev.doorbell.core.fabric.explore;

import static dev.doorbell.core.fabric.Access.ACQUIRE;
import static dev.doorbell.core.fabric.Access.ACQ_REL;
import static dev.doorbell.core.fabric.Access.CTA;
import static dev.doorbell.core.fabric.Access.GPU;
import static dev.doorbell.core.fabric.Access.NON_COHERENT;
import static dev.doorbell.core.fabric.Access.REDUCTION;
import static dev.doorbell.core.fabric.Access.RELAXED;
import static dev.doorbell.core.fabric.Access.RELEASE;
import static dev.doorbell.core.fabric.Access.SYS;
import static dev.doorbell.core.fabric.Access.WEAK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Actor.Meeting;
import dev.doorbell.core.fabric.explore.model.Actor.ScopeLocation;
import dev.doorbell.core.fabric.explore.model.Clock;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.Conflict.Kind;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules, one at a time. Loads return the oldest value that they may. */
class MemoryMachineTest {
  private static final long HOST = 0x1000;
  private static final long X = 0x8000;
  private static final long Y = 0x8008;
  private static final long Z = 0x8010;

  private final List<Conflict> conflicts = new ArrayList<>();
  private final Map<Long, Long> words = new HashMap<>();
  private Policy policy = Policy.STRICT;
  private int staleLoads;

  private MemoryMachine machine() {
    MemoryMachine.Backing backing =
        new MemoryMachine.Backing() {
          @Override
          public long word(long address) {
            return words.getOrDefault(address, 0L);
          }

          @Override
          public void store(long address, long value, long mask) {
            words.merge(address, value & mask, (old, now) -> (old & ~mask) | now);
          }

          @Override
          public boolean onGpu(long address) {
            return address >= X;
          }
        };
    return new MemoryMachine(
        (alternatives, what) -> alternatives - 1,
        new MemoryMachine.Options(policy, 8, staleLoads),
        backing,
        conflicts::add);
  }

  private static Actor thread(MemoryMachine machine, long block) {
    return machine.thread(ScopeLocation.thread(0, 0, block), new Clock(), "block " + block);
  }

  private List<Kind> kinds() {
    return conflicts.stream().map(Conflict::kind).toList();
  }

  private static long load(MemoryMachine machine, Actor actor, long address, int access) {
    return machine.load(actor, address, 8, access, null);
  }

  private static void store(
      MemoryMachine machine, Actor actor, long address, long value, int access) {
    machine.store(actor, address, 8, value, access, null);
  }

  private static long atomic(MemoryMachine machine, Actor actor, long address, int access) {
    return machine.atomic(actor, Rmw.ADD, address, 8, 1, 0, access, null);
  }

  @Test
  void a_load_may_miss_what_nothing_orders_and_that_is_a_race() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    store(machine, a, X, 1, WEAK);
    assertThat(load(machine, a, X, WEAK)).as("its own store").isEqualTo(1);
    assertThat(kinds()).isEmpty();
    assertThat(load(machine, b, X, WEAK)).isZero();
    assertThat(kinds()).containsExactly(Kind.LOAD_OF_STORE);
    assertThat(conflicts.getFirst().scope()).isEqualTo(GPU);
  }

  @ParameterizedTest
  @CsvSource({"CTA, 1, true", "CTA, 2, false", "GPU, 2, true", "SYS, 2, true"})
  void a_release_and_an_acquire_order_as_far_as_their_scope(
      String scope, int block, boolean ordered) {
    int bits = scope.equals("CTA") ? CTA : scope.equals("GPU") ? GPU : SYS;
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, block);
    store(machine, a, X, 7, WEAK);
    store(machine, a, Y, 1, RELEASE | bits);
    sees(machine, b, Y, ACQUIRE | bits);
    conflicts.clear();
    assertThat(load(machine, b, X, WEAK)).isEqualTo(ordered ? 7 : 0);
    assertThat(conflicts.isEmpty()).isEqualTo(ordered);
  }

  /** Makes {@code actor} see the newest value of a word: an atomic that adds nothing. */
  private static Actor sees(MemoryMachine machine, Actor actor, long address, int access) {
    machine.atomic(actor, Rmw.ADD, address, 8, 0, 0, access, null);
    return actor;
  }

  @Test
  void what_was_seen_of_a_relaxed_store_travels_on_with_releases_but_nothing_before_it() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    Actor c = thread(machine, 3);
    store(machine, a, Z, 5, RELAXED | GPU);
    store(machine, a, X, 1, RELAXED | GPU);
    sees(machine, b, X, RELAXED | GPU);
    store(machine, b, Y, 1, RELEASE | GPU);
    sees(machine, c, Y, ACQUIRE | GPU);
    assertThat(load(machine, c, X, RELAXED | GPU)).isEqualTo(1);
    assertThat(load(machine, c, Z, RELAXED | GPU)).isZero();
    assertThat(kinds()).isEmpty();
  }

  @Test
  void what_was_seen_travels_through_a_barrier() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    Actor c = thread(machine, 2);
    store(machine, a, X, 1, RELAXED | GPU);
    sees(machine, b, X, RELAXED | GPU);
    Meeting meeting = new Meeting();
    meeting.arrive(b);
    meeting.arrive(c);
    meeting.leave(c);
    assertThat(load(machine, c, X, RELAXED | GPU)).isEqualTo(1);
  }

  @Test
  void a_reduction_hands_on_what_it_finds_but_acquires_nothing() {
    for (int extra : new int[] {0, REDUCTION}) {
      conflicts.clear();
      words.clear();
      MemoryMachine machine = machine();
      Actor a = thread(machine, 1);
      Actor b = thread(machine, 2);
      Actor c = thread(machine, 3);
      store(machine, a, X, 7, WEAK);
      store(machine, a, Y, 1, RELEASE | GPU);
      atomic(machine, b, Y, RELAXED | GPU | extra);
      machine.fence(b, ACQ_REL | GPU);
      atomic(machine, c, Y, ACQUIRE | GPU);
      load(machine, c, X, WEAK);
      assertThat(kinds()).as("through the release sequence").isEmpty();
      load(machine, b, X, WEAK);
      assertThat(conflicts.isEmpty()).isEqualTo(extra == 0);
    }
  }

  @Test
  void a_store_races_with_an_earlier_load_until_the_load_is_released() {
    MemoryMachine machine = machine();
    Actor reader = thread(machine, 1);
    Actor writer = thread(machine, 2);
    load(machine, reader, X, WEAK);
    load(machine, reader, Z, WEAK);
    store(machine, writer, X, 1, WEAK);
    assertThat(kinds()).containsExactly(Kind.STORE_OVER_LOAD);
    store(machine, reader, Y, 1, RELEASE | GPU);
    sees(machine, writer, Y, ACQUIRE | GPU);
    store(machine, writer, Z, 1, WEAK);
    assertThat(kinds()).containsExactly(Kind.STORE_OVER_LOAD);
  }

  @Test
  void the_read_only_cache_may_not_be_used_for_what_is_stored_since_the_kernel_began() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    store(machine, a, X, 1, WEAK);
    load(machine, a, X, NON_COHERENT);
    assertThat(kinds()).containsExactly(Kind.NON_COHERENT);
    Actor later = machine.thread(ScopeLocation.thread(0, 0, 2), a.clock, "a later kernel");
    load(machine, later, X, NON_COHERENT);
    assertThat(kinds()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    // policy, fence, word on the GPU, found
    "STRICT, GPU, true,  true",
    "STRICT, SYS, true,  false",
    "STRICT, SYS, false, false",
    "VENDOR, GPU, true,  false",
    "VENDOR, GPU, false, true",
    "VENDOR, CTA, true,  true",
  })
  void a_device_reads_what_was_released_to_it_by_its_policy(
      Policy rules, String scope, boolean onGpu, boolean found) {
    policy = rules;
    int bits = scope.equals("CTA") ? CTA : scope.equals("GPU") ? GPU : SYS;
    MemoryMachine machine = machine();
    Actor thread = thread(machine, 1);
    Actor device = machine.device(0, "HCA");
    store(machine, thread, onGpu ? X : HOST, 7, WEAK);
    machine.fence(thread, ACQ_REL | bits);
    machine.arrived(device, machine.handsOn(thread, Access.MMIO | SYS));
    machine.read(device, onGpu ? X : HOST, 8, null);
    assertThat(kinds()).isEqualTo(found ? List.of(Kind.DMA_READ_OF_STORE) : List.of());
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "true, 1"})
  void the_last_word_of_a_dma_write_comes_after_the_rest_unless_it_is_relaxed(
      boolean relaxed, int races) {
    MemoryMachine machine = machine();
    Actor device = machine.device(0, "HCA");
    Actor thread = thread(machine, 1);
    machine.write(device, X, 16, relaxed, bytes -> 9, null);
    sees(machine, thread, Y, ACQUIRE | SYS);
    load(machine, thread, X, WEAK);
    assertThat(conflicts).hasSize(races);
  }

  @Test
  void a_buffer_that_a_device_reads_may_be_stored_to_only_after_its_completion() {
    MemoryMachine machine = machine();
    Actor thread = thread(machine, 1);
    Actor device = machine.device(0, "HCA");
    machine.read(device, X, 8, null);
    store(machine, thread, X, 1, WEAK);
    assertThat(kinds()).containsExactly(Kind.STORE_OVER_DMA_READ);
    machine.read(device, Z, 8, null);
    machine.write(device, Y, 8, false, bytes -> 1, null);
    sees(machine, thread, Y, ACQUIRE | SYS);
    store(machine, thread, Z, 1, WEAK);
    assertThat(kinds().subList(1, conflicts.size())).doesNotContain(Kind.STORE_OVER_DMA_READ);
  }

  @Test
  void the_oldest_write_that_a_load_returns_still_hands_on_what_it_releases() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    store(machine, a, X, 7, WEAK);
    for (int i = 1; i <= 100; i++) {
      store(machine, a, Y, i, RELEASE | GPU);
    }
    assertThat(load(machine, b, Y, ACQUIRE | GPU)).isBetween(1L, 99L);
    assertThat(load(machine, b, X, WEAK)).isEqualTo(7);
    assertThat(kinds()).isEmpty();
  }

  @Test
  void what_half_a_word_releases_is_not_forgotten_for_stores_to_the_other_half() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    store(machine, a, X, 7, WEAK);
    machine.store(a, Y, 4, 1, RELEASE | GPU, null);
    for (int i = 1; i <= 100; i++) {
      machine.store(a, Y + 4, 4, i, RELAXED | GPU, null);
    }
    while (machine.load(b, Y, 4, ACQUIRE | GPU, null) == 0) {
      machine.atomic(b, Rmw.ADD, Y, 4, 0, 0, ACQUIRE | GPU, null);
    }
    assertThat(load(machine, b, X, WEAK)).isEqualTo(7);
    assertThat(kinds()).isEmpty();
  }

  @Test
  void after_so_many_stale_loads_the_newest_value_comes() {
    staleLoads = 3;
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    store(machine, a, X, 1, RELAXED | GPU);
    List<Long> seen = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      seen.add(load(machine, b, X, RELAXED | GPU));
    }
    assertThat(seen).containsExactly(0L, 0L, 0L, 1L, 1L);
  }

  @Test
  void what_the_host_stores_between_launches_replaces_all_that_was_known() {
    MemoryMachine machine = machine();
    Actor a = thread(machine, 1);
    Actor b = thread(machine, 2);
    store(machine, a, X, 1, RELAXED | GPU);
    sees(machine, b, X, RELAXED | GPU);
    words.put(X, 100L);
    assertThat(load(machine, b, X, WEAK)).isEqualTo(100);
    assertThat(kinds()).isEmpty();
    store(machine, a, X, 101, RELAXED | GPU);
    assertThat(load(machine, b, X, RELAXED | GPU)).as("not seen yet").isEqualTo(100);
  }
}
