package dev.doorbell.interop.shim.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.core.uverbs.generated.UverbsAbi;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;

/** The ranges that a process has mapped, asked of this process itself. */
@SuppressWarnings("restricted")
class ClientMappingTest {
  private static final long PAGE = 4096;
  private static final int READ = 1;
  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;

  private static MethodHandle call(String name, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_LONG, arguments));
  }

  @Test
  void a_range_is_mapped_from_its_first_byte_to_its_last_and_no_further() throws Throwable {
    MethodHandle mmap = call("mmap", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    MethodHandle mprotect = call("mprotect", JAVA_LONG, JAVA_LONG, JAVA_INT);
    // Six pages that nobody may touch; of these two may be written, and the one behind read.
    long hole = (long) mmap.invokeExact(0L, 6 * PAGE, 0, PRIVATE_ANONYMOUS, -1, 0L);
    long start = hole + 2 * PAGE;
    long written = (long) mprotect.invokeExact(start, 2 * PAGE, READ_WRITE);
    long read = (long) mprotect.invokeExact(start + 2 * PAGE, PAGE, READ);
    assertThat((int) written + (int) read).isZero();
    int file = new LinuxCalls().sealedMemory("doorbell-test", UverbsAbi.FILE_BYTES);
    assumeThat(file).as("memfd_create with seals").isNotNegative();
    ClientProcess own = new ClientProcess((int) ProcessHandle.current().pid(), 1, file);

    assertThat(own.isMapped(start, 2 * PAGE, true)).isTrue();
    assertThat(own.isMapped(start, 2 * PAGE, false)).isTrue();
    assertThat(own.isMapped(start + 1, 2 * PAGE - 1, true)).isTrue();
    assertThat(own.isMapped(start + 1, 2 * PAGE, true)).as("one byte more").isFalse();
    assertThat(own.isMapped(start - 1, PAGE, true)).as("one byte before").isFalse();
    assertThat(own.isMapped(start, 3 * PAGE, false)).as("over two mappings").isTrue();
    assertThat(own.isMapped(start, 3 * PAGE, true)).as("the last is for reading").isFalse();
    assertThat(own.isMapped(start, 3 * PAGE + 1, false)).isFalse();
    assertThat(own.isMapped(start + 3 * PAGE, 1, false)).as("nobody may touch it").isFalse();
  }
}
