package dev.doorbell.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressSpaceTest {
  private static final int PAGE = AddressSpace.PAGE;
  private static final Locus GPU = Locus.gpu(0, 0);

  private final AddressSpace space = AddressSpace.reserve(1L << 20);

  @AfterEach
  void close() {
    space.close();
  }

  private Allocation allocate(long bytes, String label) {
    return space.allocate(MemoryKind.DEVICE, GPU, bytes, label);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void separate_nodes_touch_their_own_memory_alone(int perNode) {
    space.separate(4, perNode, "no way");
    Allocation[] of = new Allocation[4];
    for (int rank = 0; rank < 4; rank++) {
      of[rank] = space.allocate(MemoryKind.HOST, Locus.gpu(rank, 0), PAGE + 8, "of " + rank);
    }
    for (int rank = 0; rank < 4; rank++) {
      AddressSpace.PageTable table = space.pageTable(rank);
      for (int other = 0; other < 4; other++) {
        long offset = of[other].address() + PAGE - table.base();
        boolean inside = offset >= 0 && offset < table.pages() * PAGE;
        assertThat(inside).as("%d of %d", other, rank).isEqualTo(rank / perNode == other / perNode);
        if (inside) {
          int page = table.first() + (int) (offset / PAGE);
          int part = page >>> AddressSpace.PART_SHIFT;
          int inPart = page & ((1 << AddressSpace.PART_SHIFT) - 1);
          assertThat(table.accessibleBytes()[part][inPart]).isEqualTo((short) 8);
        }
      }
      assertThat(table.base()).isEqualTo(space.reachStart(rank));
      assertThat(table.pages() * PAGE).isEqualTo(space.reachBytes());
      assertThat(space.accessible(of[rank].address(), 16)).as("by DMA").isTrue();
    }
    assertThat(space.fault("store", of[3].address(), 8, GPU))
        .hasMessageContaining("rank0.gpu0 cannot address memory of rank3.gpu0")
        .hasMessageContaining("no NVLink is between them (no way)");
    assertThat(space.fault("store", of[3].address() + PAGE, 9, GPU))
        .hasMessageContaining("past the end");
    space.free(of[3]);
    assertThat(space.fault("store", of[3].address(), 8, GPU)).hasMessageContaining("past the end");
    assertThat(space.allocate(MemoryKind.DEVICE, Locus.gpu(3, 0), 8, "again").address())
        .isEqualTo(of[3].address());
    assertThatThrownBy(() -> space.separate(2, 1, "")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void a_node_has_no_more_than_its_part() {
    space.separate(4, 1, "");
    long part = space.reachBytes();
    assertThatThrownBy(() -> allocate(part, "payload"))
        .hasMessage(
            "no room for 'payload' (%d bytes of gpu memory): %d bytes reserved, 0 in use"
                .formatted(part, part));
    Allocation whole = allocate(part - 3 * PAGE, "whole");
    space.free(whole);
    assertThat(allocate(part - 3 * PAGE, "whole again").address()).isEqualTo(whole.address());
  }

  @Test
  void what_was_freed_is_zero_when_it_is_allocated_again_whatever_the_sizes() {
    try (AddressSpace memory = AddressSpace.reserve(256L << 20)) {
      SplittableRandom random = new SplittableRandom(3);
      List<Allocation> live = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        if (live.size() > 40 || (!live.isEmpty() && random.nextInt(3) == 0)) {
          memory.free(live.remove(random.nextInt(live.size())));
          continue;
        }
        int bytes = 1 + random.nextInt(random.nextInt(50) == 0 ? 3 << 20 : 40_000);
        Allocation allocation = memory.allocate(MemoryKind.DEVICE, GPU, bytes, "x");
        for (long at = 0; at < bytes; at += 509) {
          assertThat(RawMemory.getByte(allocation.address() + at)).isZero();
        }
        assertThat(RawMemory.getByte(allocation.address() + bytes - 1)).isZero();
        RawMemory.fill(allocation.address(), bytes, (byte) 7);
        live.add(allocation);
      }
    }
  }

  @Test
  void memory_between_what_was_freed_keeps_its_bytes() {
    try (AddressSpace memory = AddressSpace.reserve(256L << 20)) {
      List<Allocation> all = new ArrayList<>();
      for (int i = 0; i < 6_000; i++) {
        Allocation allocation = memory.allocate(MemoryKind.DEVICE, GPU, 3 * PAGE, "x");
        for (long at = 0; at < allocation.size(); at += PAGE) {
          RawMemory.putByte(allocation.address() + at, (byte) 7);
        }
        all.add(allocation);
      }
      for (int i = 0; i < all.size(); i++) {
        if (i % 3 != 0) {
          memory.free(all.get(i)); // 47 MiB in all, of which the first 32 go back together
        }
      }
      for (int i = 0; i < all.size(); i += 3) {
        for (long at = 0; at < all.get(i).size(); at += PAGE) {
          assertThat(RawMemory.getByte(all.get(i).address() + at)).isEqualTo((byte) 7);
        }
      }
      for (int i = 0; i < 4_000; i++) {
        Allocation again = memory.allocate(MemoryKind.DEVICE, GPU, 3 * PAGE, "y");
        for (long at = 0; at < again.size(); at += PAGE) {
          assertThat(RawMemory.getByte(again.address() + at)).isZero();
        }
      }
    }
  }

  @Test
  void an_allocation_starts_on_a_page_and_is_zero() {
    Allocation a = allocate(10, "a");
    Allocation b = allocate(2 * PAGE, "b");
    for (Allocation each : List.of(a, b)) {
      assertThat(each.address() % PAGE).isZero();
      for (long i = 0; i < each.size(); i++) {
        assertThat(RawMemory.getByte(each.address() + i)).isZero();
      }
    }
    assertThat(space.bytesInUse()).isEqualTo(10 + 2 * PAGE);
  }

  @ParameterizedTest
  @ValueSource(
      longs = {0, 1, PAGE - 1, PAGE, 3 * PAGE + 5, 1 << 20, (1 << 20) + 2 * PAGE, (2 << 20) + 3})
  void zeroing_writes_zeros_there_and_nowhere_else(long bytes) {
    try (AddressSpace large = AddressSpace.reserve(8L << 20)) {
      Allocation a = large.allocate(MemoryKind.DEVICE, GPU, 4L << 20, "a");
      RawMemory.fill(a.address(), a.size(), (byte) 7);
      long from = a.address() + PAGE - 3;
      large.zero(from, bytes);
      for (long at = a.address(); at < a.address() + a.size(); at++) {
        int expected = at >= from && at < from + bytes ? 0 : 7;
        if (RawMemory.getByte(at) != expected) {
          assertThat(RawMemory.getByte(at)).as("offset %d", at - from).isEqualTo((byte) expected);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 7, 8, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE})
  void exactly_its_bytes_are_accessible(long bytes) {
    allocate(100, "before");
    Allocation a = allocate(bytes, "a");
    allocate(100, "after");
    for (long at = a.address() - 2; at < a.address() + bytes + 2; at++) {
      boolean inside = at >= a.address() && at < a.address() + bytes;
      assertThat(space.accessible(at, 1)).as("offset %d", at - a.address()).isEqualTo(inside);
      assertThat(space.accessibleRange(at, 1)).isEqualTo(inside);
      Allocation found = space.find(at);
      assertThat(found).isEqualTo(inside ? a : null);
    }
    assertThat(space.accessibleRange(a.address(), bytes)).isTrue();
    assertThat(space.accessibleRange(a.address(), bytes + 1)).isFalse();
    assertThat(space.accessibleRange(a.address() - 1, bytes)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, -8, Long.MIN_VALUE, Long.MAX_VALUE, 0x7fff_ffff_f000L})
  void addresses_far_outside_are_not_accessible(long address) {
    allocate(100, "a");
    assertThat(space.accessible(address, 8)).isFalse();
    assertThat(space.accessibleRange(address, 8)).isFalse();
    assertThat(space.accessibleRange(address, Long.MAX_VALUE)).isFalse();
    assertThat(space.isRegister(address)).isFalse();
    assertThat(space.find(address)).isNull();
  }

  @Test
  void a_range_of_negative_length_is_not_accessible_and_an_empty_one_is() {
    Allocation a = allocate(100, "a");
    assertThat(space.accessibleRange(a.address(), -1)).isFalse();
    assertThat(space.accessibleRange(a.address(), Long.MIN_VALUE)).isFalse();
    assertThat(space.accessibleRange(0, 0)).isTrue();
  }

  @Test
  void doorbell_pages_are_registers_and_not_memory() {
    Allocation uar = space.allocate(MemoryKind.UAR, Locus.nic(0, 0), PAGE, "uar");
    Allocation a = allocate(8, "a");
    assertThat(space.accessible(uar.address() + 0x800, 8)).isFalse();
    assertThat(space.accessibleRange(uar.address(), 8)).isFalse();
    assertThat(space.isRegister(uar.address() + 0x800)).isTrue();
    assertThat(space.isRegister(a.address())).isFalse();
    assertThat(space.fault("atomic", uar.address() + 0x800, 8))
        .hasMessageContaining("inside 'uar' (uar memory of rank0.nic0")
        .hasMessageContaining("takes single loads and stores only");
    space.free(uar);
    assertThat(space.isRegister(uar.address())).isFalse();
  }

  @Test
  void addresses_of_a_multicast_object_stand_for_those_of_its_members() {
    Allocation one = space.allocate(MemoryKind.DEVICE, GPU, 64, "one");
    Allocation two = space.allocate(MemoryKind.DEVICE, GPU, 64, "two");
    Allocation both = space.multicast(GPU, 64, new long[] {one.address(), two.address()}, "both");
    assertThat(space.accessible(both.address(), 8)).isFalse();
    assertThat(space.isRegister(both.address())).isFalse();
    assertThat(space.members(both.address() + 60, 4))
        .containsExactly(one.address() + 60, two.address() + 60);
    assertThat(space.members(both.address() + 60, 8)).isNull();
    assertThat(space.members(one.address(), 8)).isNull();
    space.free(both);
    assertThat(space.members(both.address(), 8)).isNull();
  }

  @ParameterizedTest
  @EnumSource(
      value = MemoryKind.class,
      names = {"UAR", "MULTICAST"},
      mode = EnumSource.Mode.EXCLUDE)
  void memory_of_every_other_kind_is_accessible(MemoryKind kind) {
    Allocation a = space.allocate(kind, GPU, 8, "a");
    assertThat(space.accessible(a.address(), 8)).isTrue();
    assertThat(space.isRegister(a.address())).isFalse();
  }

  @Test
  void a_fault_names_the_nearest_allocation() {
    Allocation low = allocate(PAGE, "send ring");
    allocate(PAGE, "completion ring");
    assertThat(space.fault("store", low.address() - 16, 8))
        .hasMessage(
            "store of 8 bytes at 0x%x: 16 bytes before 'send ring' (gpu memory of rank0.gpu0, 4096"
                    .formatted(low.address() - 16)
                + " bytes at 0x%x)".formatted(low.address()))
        .extracting(AccessFault::address, AccessFault::size)
        .containsExactly(low.address() - 16, 8L);
    assertThat(space.fault("load", low.address() + PAGE + 4, 4))
        .hasMessageContaining("4 bytes past the end of 'send ring'");
    assertThat(space.fault("load", low.address() + 2 * PAGE - 4, 4))
        .hasMessageContaining("4 bytes before 'completion ring'");
    assertThat(space.fault("load", low.address() + PAGE - 4, 8))
        .hasMessageContaining("runs 4 bytes past the end of 'send ring'");
    assertThat(space.fault("load", Long.MAX_VALUE - 7, 8))
        .hasMessageContaining("past the end of 'completion ring'");
    assertThat(space.fault("load", 8, 8)).hasMessageContaining("before 'send ring'");
  }

  @Test
  void a_fault_in_an_empty_space_says_so() {
    assertThat(space.fault("load", 8, 8))
        .hasMessage("load of 8 bytes at 0x8: nothing is allocated");
  }

  @Test
  void a_checked_range_that_is_bad_is_a_fault() {
    Allocation a = allocate(100, "payload");
    space.check("DMA read", a.address(), 100);
    assertThatThrownBy(() -> space.check("DMA read", a.address() + 50, 51))
        .isInstanceOf(AccessFault.class)
        .hasMessageContaining("DMA read of 51 bytes")
        .hasMessageContaining("runs 1 bytes past the end of 'payload'");
  }

  @Test
  void freed_memory_is_out_of_reach_and_comes_back_zeroed() {
    Allocation a = allocate(3 * PAGE, "a");
    RawMemory.fill(a.address(), a.size(), (byte) 0xee);
    int generation = space.generation();
    space.free(a);
    assertThat(space.generation()).isNotEqualTo(generation);
    for (long at = a.address(); at < a.address() + a.size(); at += PAGE) {
      assertThat(space.accessible(at, 1)).isFalse();
    }
    assertThat(space.fault("load", a.address(), 8)).hasMessageContaining("nothing is allocated");
    Allocation again = allocate(3 * PAGE, "again");
    assertThat(again.address()).isEqualTo(a.address());
    for (long at = again.address(); at < again.address() + again.size(); at += 8) {
      assertThat(RawMemory.getLong(at)).isZero();
    }
  }

  @Test
  void freeing_twice_is_refused() {
    Allocation a = allocate(8, "a");
    space.free(a);
    assertThatThrownBy(() -> space.free(a))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'a'")
        .hasMessageContaining("is not live");
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 20, 1L << 40, Long.MAX_VALUE - PAGE, Long.MAX_VALUE})
  void more_than_there_is_room_for_is_refused(long bytes) {
    allocate(8, "a");
    assertThatThrownBy(() -> allocate(bytes, "payload"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "no room for 'payload' (%d bytes of gpu memory): 1048576 bytes reserved, 8 in use"
                .formatted(bytes));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void an_allocation_needs_bytes(long bytes) {
    assertThatThrownBy(() -> allocate(bytes, "payload"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'payload'");
  }

  @Test
  void a_closed_space_has_nothing_accessible() {
    Allocation a = allocate(8, "a");
    Allocation uar = space.allocate(MemoryKind.UAR, Locus.nic(0, 0), PAGE, "uar");
    space.close();
    space.close();
    assertThat(space.accessible(a.address(), 8)).isFalse();
    assertThat(space.accessibleRange(a.address(), 8)).isFalse();
    assertThat(space.isRegister(uar.address())).isFalse();
    assertThat(space.find(a.address())).isNull();
    assertThatThrownBy(() -> allocate(8, "b")).hasMessage("the address space is closed");
    assertThatThrownBy(() -> space.free(a)).hasMessage("the address space is closed");
  }

  /** Random allocations and frees, with every boundary probed against a list. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void random_use_agrees_with_a_model(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Allocation> model = new ArrayList<>();
    int refused = 0;
    for (int step = 0; step < 2_000; step++) {
      String context = "seed " + seed + " step " + step;
      if (model.isEmpty() || random.nextInt(100) < 55) {
        long bytes = 1 + random.nextLong(1L << random.nextInt(1, 18));
        MemoryKind kind = random.nextInt(8) == 0 ? MemoryKind.UAR : MemoryKind.DEVICE;
        try {
          Allocation made = space.allocate(kind, GPU, bytes, context);
          for (Allocation other : model) {
            assertThat(
                    made.address() >= other.address() + other.size() + 1
                        || other.address() >= made.address() + made.size() + 1)
                .as("%s: %s beside %s", context, made, other)
                .isTrue();
          }
          assertThat(RawMemory.getByte(made.address())).as(context).isZero();
          assertThat(RawMemory.getByte(made.address() + bytes - 1)).as(context).isZero();
          RawMemory.fill(made.address(), bytes, (byte) 0xff);
          model.add(made);
        } catch (IllegalStateException full) {
          refused++;
        }
      } else {
        space.free(model.remove(random.nextInt(model.size())));
      }
      probe(random, model, context);
    }
    assertThat(refused).as("the space was never full").isPositive();
    assertThat(space.bytesInUse()).isEqualTo(model.stream().mapToLong(Allocation::size).sum());
    model.forEach(space::free);
    Allocation all = allocate((1L << 20) - 3 * PAGE, "all");
    assertThat(all.size()).as("holes that joined up again").isEqualTo((1L << 20) - 3 * PAGE);
  }

  private void probe(SplittableRandom random, List<Allocation> model, String context) {
    for (int i = 0; i < 20 && !model.isEmpty(); i++) {
      Allocation near = model.get(random.nextInt(model.size()));
      long edge = random.nextBoolean() ? near.address() : near.address() + near.size();
      long at = edge + random.nextInt(-2 * PAGE, 2 * PAGE);
      long bytes = random.nextBoolean() ? random.nextInt(1, 17) : random.nextInt(1, 4 * PAGE);
      Allocation holder = null;
      for (Allocation each : model) {
        holder = each.contains(at, 1) ? each : holder;
      }
      boolean whole =
          holder != null && holder.kind() != MemoryKind.UAR && holder.contains(at, bytes);
      assertThat(space.accessibleRange(at, bytes)).as(context).isEqualTo(whole);
      if ((at & (PAGE - 1)) + bytes <= PAGE) {
        assertThat(space.accessible(at, (int) bytes)).as(context).isEqualTo(whole);
      }
      assertThat(space.find(at)).as(context).isEqualTo(holder);
    }
  }

  @Test
  void a_new_space_begins_empty_and_opens_nothing_in_one_that_was_closed() {
    for (int round = 0; round < 3; round++) {
      AddressSpace closed = AddressSpace.reserve();
      Allocation old = closed.allocate(MemoryKind.DEVICE, Locus.gpu(0, 0), 3 << 20, "old");
      closed.close();
      try (AddressSpace space = AddressSpace.reserve()) {
        Allocation first = space.allocate(MemoryKind.DEVICE, Locus.gpu(0, 0), 8, "new");
        assertThat(space.accessible(first.address(), 8)).isTrue();
        assertThat(space.accessible(first.address() + AddressSpace.PAGE, 8)).isFalse();
        assertThat(space.accessible(first.address() + (1 << 20), 8)).isFalse();
        assertThat(closed.accessible(old.address(), 8)).isFalse();
        assertThat(closed.accessibleRange(old.address(), 3 << 20)).isFalse();
        assertThat(closed.isRegister(old.address())).isFalse();
      }
    }
  }

  /** Small and large ones, freed or live at the end, in a range that other spaces had before. */
  @ParameterizedTest
  @ValueSource(longs = {1, PAGE, PAGE + 8, (1 << 20) - 1, 1 << 20, 3 << 20})
  void a_new_space_has_nothing_of_one_that_was_closed(long bytes) {
    for (int round = 0; round < 3; round++) {
      try (AddressSpace one = AddressSpace.reserve()) {
        for (int i = 0; i < 4; i++) {
          Allocation filled = one.allocate(MemoryKind.DEVICE, GPU, bytes, "filled");
          assertThat(RawMemory.getByte(filled.address())).isZero();
          assertThat(RawMemory.getByte(filled.address() + bytes - 1)).isZero();
          RawMemory.fill(filled.address(), bytes, (byte) 0xa5);
          if (i == round) {
            one.free(filled);
          }
        }
      }
    }
  }

  @Test
  void lower_bits_of_addresses_are_the_same_in_every_space() {
    try (AddressSpace one = AddressSpace.reserve(1 << 20);
        AddressSpace other = AddressSpace.reserve(1 << 20)) {
      long first = one.allocate(MemoryKind.DEVICE, GPU, 100, "first").address();
      long second = other.allocate(MemoryKind.DEVICE, GPU, 100, "second").address();
      assertThat(first).isNotEqualTo(second);
      assertThat(first % AddressSpace.ALIGNMENT).isEqualTo(second % AddressSpace.ALIGNMENT);
    }
  }
}
