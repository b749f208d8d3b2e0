package dev.doorbell.interop.shim.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the wait for programs, with epoll_pwait2 and as before Linux 5.11, which lacks it. */
final class LocalListenerTest {
  /** A test waits so long only if it fails: the event has happened before. */
  private static final long LONG_NANOS = 60_000_000_000L;

  @TempDir private Path folder;

  private record Connection(LocalSocket socket, boolean hasUnsent)
      implements LocalListener.Waiting {}

  private SocketChannel connect() throws Exception {
    SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX);
    client.connect(UnixDomainSocketAddress.of(folder.resolve("s")));
    return client;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void each_write_to_a_wake_file_ends_one_wait_though_nobody_reads_it(boolean exactly)
      throws Exception {
    LinuxCalls libc = new LinuxCalls(exactly);
    try (LocalListener listener = new LocalListener(folder.resolve("s"), libc);
        Arena arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1);
      int file = listener.openWakeFile();
      assertThat(file).isPositive();
      for (int i = 1; i <= 3; i++) {
        libc.write(file, one.address(), Long.BYTES);
        assertThat(listener.await(List.of(), LONG_NANOS)).isFalse();
        assertThat(listener.wakes()).isEqualTo(i);
        listener.await(List.of(), 1000);
        assertThat(listener.wakes()).isEqualTo(i);
      }
      // A program keeps its descriptor when the file is closed here.
      int kept = libc.descriptorOf((int) ProcessHandle.current().pid(), file);
      listener.closeWakeFile(file);
      libc.write(kept, one.address(), Long.BYTES);
      listener.await(List.of(), 1000);
      assertThat(listener.wakes()).isEqualTo(3);
      libc.close(kept);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void a_connection_is_ready_when_it_can_be_read_or_written_where_it_has_something_unsent(
      boolean exactly) throws Exception {
    try (LocalListener listener = new LocalListener(folder.resolve("s"), new LinuxCalls(exactly));
        SocketChannel client = connect()) {
      assertThat(listener.await(List.of(), LONG_NANOS)).isTrue();
      try (LocalSocket socket = requireNonNull(listener.accept())) {
        List<Connection> reads = List.of(new Connection(socket, false));
        assertThat(listener.await(reads, 1000)).isFalse();
        assertThat(socket.takeReady()).isFalse();
        client.write(ByteBuffer.wrap("word".getBytes(US_ASCII)));
        listener.await(reads, LONG_NANOS);
        assertThat(socket.takeReady()).isTrue();
        assertThat(socket.takeReady()).isFalse();

        fill(socket);
        List<Connection> writes = List.of(new Connection(socket, true));
        listener.await(writes, 1000);
        assertThat(socket.takeReady()).as("what can be read alone").isFalse();
        while (!socket.takeReady()) {
          client.read(ByteBuffer.allocate(1 << 16));
          listener.await(writes, 1000);
        }
        listener.await(reads, LONG_NANOS);
        assertThat(socket.takeReady()).isTrue();
      }
    }
  }

  private static void fill(LocalSocket socket) throws Exception {
    ByteBuffer part = ByteBuffer.allocate(4096);
    do {
      part.clear();
      socket.write(part);
    } while (!part.hasRemaining());
  }
}
