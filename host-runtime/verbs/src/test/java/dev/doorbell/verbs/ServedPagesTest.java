package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.NativeFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Pages that are shared before they are pinned. What pins them is a second mapping here, which
 * stays with the pages that it was made of, as a GPU's does.
 */
class ServedPagesTest {
  private static final int BLOCKS = 64;
  private static final long MARK = 0x1122_3344_5566_7788L;
  private static final int MAY_MOVE = 1;
  private static final NativeFunction MREMAP =
      new NativeFunction(
          "mremap",
          Linker.nativeLinker().defaultLookup().findOrThrow("mremap"),
          FunctionDescriptor.of(
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));

  private @Nullable ServedPages pages;

  @BeforeEach
  void requirePreloaded() {
    pages = ServedPages.find();
    assumeTrue(pages != null, "LibMlx5Test runs it in a JVM that preloads the library");
  }

  private ServedPages pages() {
    return java.util.Objects.requireNonNull(pages);
  }

  /** Another view of shared pages, for ever theirs. */
  private static long secondView(long address, long bytes) {
    return MREMAP.call(MemorySegment.ofAddress(address), 0L, bytes, MAY_MOVE).pointer().address();
  }

  @Test
  void queues_of_two_generations_stay_in_the_pages_that_were_pinned() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0)) {
      List<Memory> pinned = new ArrayList<>();
      MemoryProvider plain = FabricMemory.of(fabric.memory(), 0);
      MemoryProvider provider =
          (kind, bytes, label) -> {
            Memory memory = plain.allocate(kind, bytes, label);
            pages().share(memory.address(), wholePages(bytes));
            pinned.add(memory);
            return memory;
          };
      try (Mlx5Hca hca = new Mlx5Hca(fabric, Locus.nic(0, 0), DeviceFilter.ALL, -1, plain)) {
        for (int generation = 0; generation < 2; generation++) {
          pinned.clear();
          List<Long> views = new ArrayList<>();
          MemoryProvider viewed =
              (kind, bytes, label) -> {
                Memory memory = provider.allocate(kind, bytes, label);
                views.add(secondView(memory.address(), wholePages(bytes)));
                return memory;
              };
          ProtectionDomain domain = hca.allocateProtectionDomain();
          CompletionQueue completions =
              domain.createCompletionQueue(
                  new CompletionQueueAttributes(
                      BLOCKS, false, true, MemoryKind.HOST, MemoryKind.HOST),
                  viewed);
          QueuePair queuePair =
              domain.createQueuePair(
                  new QueuePairAttributes(
                      BLOCKS, 0, completions, null, MemoryKind.HOST, MemoryKind.HOST),
                  viewed);
          assertThat(pinned).hasSizeGreaterThanOrEqualTo(4).hasSameSizeAs(views);
          for (int i = 0; i < views.size(); i++) {
            RawMemory.putLong(views.get(i), MARK + i);
            assertThat(RawMemory.getLong(pinned.get(i).address()))
                .as("generation %d, memory %d", generation, i)
                .isEqualTo(MARK + i);
          }
          List<Long> addresses = pinned.stream().map(Memory::address).toList();
          List<Long> sizes = pinned.stream().map(memory -> wholePages(memory.size())).toList();
          queuePair.close();
          completions.close();
          domain.close();
          for (int i = 0; i < addresses.size(); i++) {
            pages().unshare(addresses.get(i), sizes.get(i));
          }
        }
      }
    }
  }

  @Test
  void pages_keep_their_contents_when_they_are_shared_and_when_they_are_private_again() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0)) {
      Memory memory = FabricMemory.of(fabric.memory(), 0).allocate(MemoryKind.HOST, 8192, "pages");
      RawMemory.putLong(memory.address() + 4096, MARK);
      pages().share(memory.address(), 8192);
      assertThat(RawMemory.getLong(memory.address() + 4096)).isEqualTo(MARK);
      RawMemory.putLong(memory.address(), MARK + 1);
      pages().unshare(memory.address(), 8192);
      assertThat(RawMemory.getLong(memory.address())).isEqualTo(MARK + 1);
      assertThat(RawMemory.getLong(memory.address() + 4096)).isEqualTo(MARK);
      assertThatThrownBy(() -> pages().unshare(memory.address(), 8192))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("doorbell_hca_unshare");
    }
  }

  private static long wholePages(long bytes) {
    return bytes + AddressSpace.PAGE - 1 & -AddressSpace.PAGE;
  }
}
