package dev.doorbell.core.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.NativeBytes;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a doorbell page of the direct fabric does with stores and loads. */
class DirectDoorbellTest {
  private static final Agent IDLE = budget -> 0;
  private static final Locus NIC = Locus.nic(0, 0);

  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 22), 0);
  private final AddressSpace memory = fabric.memory();
  private final ThreadPort thread = fabric.attachThread(Locus.gpu(0, 0), IDLE);
  private final DevicePort device = fabric.attachDevice(NIC, IDLE);

  @AfterEach
  void close() {
    fabric.close();
  }

  private Allocation doorbellPage() {
    return memory.allocate(MemoryKind.UAR, NIC, AddressSpace.PAGE, "uar");
  }

  /** A write to a doorbell page as the device saw it. */
  private record Ring(long offset, String bytes) {}

  @Test
  void stores_to_a_doorbell_page_reach_its_device_in_order() {
    Allocation page = doorbellPage();
    List<Ring> rings = new ArrayList<>();
    device.onMmio(
        page.address(),
        (address, source, bytes) ->
            rings.add(new Ring(address - page.address(), NativeBytes.hex(source, bytes))));
    thread.store64(page.address() + 0x800, 0x0807_0605_0403_0201L, Access.MMIO | Access.SYS);
    thread.store32(page.address() + 0x20, 0x0403_0201, Access.RELAXED | Access.SYS);
    thread.store128(page.address() + 0x810, 1, 2, Access.WEAK);
    thread.store16(page.address() + 2, 0x0201, Access.WEAK);
    thread.store8(page.address() + 1, 0xff, Access.WEAK);
    assertThat(rings)
        .containsExactly(
            new Ring(0x800, "0102030405060708"),
            new Ring(0x20, "01020304"),
            new Ring(0x810, "0100000000000000" + "0200000000000000"),
            new Ring(2, "0102"),
            new Ring(1, "ff"));
  }

  @Test
  void every_store_to_a_doorbell_page_counts_even_the_same_value() {
    Allocation page = doorbellPage();
    int[] rings = {0};
    device.onMmio(page.address(), (address, source, bytes) -> rings[0]++);
    for (int i = 0; i < 10; i++) {
      thread.store64(page.address() + 0x800, 7, Access.MMIO);
    }
    assertThat(rings[0]).isEqualTo(10);
  }

  @Test
  void loads_from_a_doorbell_page_give_what_was_stored_there() {
    Allocation page = doorbellPage();
    device.onMmio(page.address(), (address, source, bytes) -> {});
    thread.store64(page.address() + 0x800, 0x1122_3344_5566_7788L, Access.MMIO);
    assertThat(thread.load64(page.address() + 0x800, Access.MMIO))
        .isEqualTo(0x1122_3344_5566_7788L);
    assertThat(thread.load32(page.address() + 0x800, Access.MMIO)).isEqualTo(0x5566_7788L);
    assertThat(thread.load16(page.address() + 0x800, Access.MMIO)).isEqualTo(0x7788L);
    assertThat(thread.load8(page.address() + 0x800, Access.MMIO)).isEqualTo(0x88L);
  }

  @Test
  void each_of_many_pages_has_its_own_device() {
    List<Allocation> pages = new ArrayList<>();
    int[] rings = new int[100];
    for (int i = 0; i < rings.length; i++) {
      int number = i;
      pages.add(doorbellPage());
      device.onMmio(pages.get(i).address(), (address, source, bytes) -> rings[number]++);
    }
    for (int i = 0; i < rings.length; i++) {
      for (int ring = 0; ring <= i; ring++) {
        thread.store64(pages.get(i).address() + 0x800, ring, Access.MMIO);
      }
    }
    for (int i = 0; i < rings.length; i++) {
      assertThat(rings[i]).isEqualTo(i + 1);
    }
  }

  @Test
  void a_doorbell_page_that_was_freed_takes_nothing_until_it_is_routed_again() {
    Allocation page = doorbellPage();
    List<String> rings = new ArrayList<>();
    device.onMmio(page.address(), (address, source, bytes) -> rings.add("first"));
    memory.free(page);
    assertThatThrownBy(() -> thread.store64(page.address() + 0x800, 1, Access.MMIO))
        .isInstanceOf(AccessFault.class);
    assertThat(doorbellPage().address()).isEqualTo(page.address());
    device.onMmio(page.address(), (address, source, bytes) -> rings.add("second"));
    thread.store64(page.address() + 0x800, 1, Access.MMIO);
    assertThat(rings).containsExactly("second");
  }

  @Test
  void a_doorbell_page_without_a_device_and_an_atomic_on_one_fault() {
    Allocation silent = doorbellPage();
    assertThatThrownBy(() -> thread.store64(silent.address() + 0x800, 1, Access.MMIO))
        .isInstanceOf(AccessFault.class)
        .hasMessageContaining("inside 'uar'");
    assertThatThrownBy(() -> thread.load64(silent.address() + 0x800, Access.MMIO))
        .isInstanceOf(AccessFault.class);
    device.onMmio(silent.address(), (address, source, bytes) -> {});
    assertThatThrownBy(
            () -> thread.atomic(Rmw.ADD, silent.address() + 0x800, 8, 1, 0, Access.RELAXED))
        .isInstanceOf(AccessFault.class)
        .hasMessageContaining("takes single loads and stores only");
  }
}
