package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AsyncEvent;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves software HCAs to programs that run under the preload library of {@code
 * host-runtime/uverbs-shim}, with {@code DOORBELL_HCA} naming this server's folder.
 *
 * <p>All devices are on one wire; programs that open them reach each other. Whatever a program made
 * ends when it closes the device or dies. {@link #run} does all the work, on one thread.
 */
public final class ShimServer implements AutoCloseable {
  private static final String SOCKET = "socket";

  /** Most devices of a server. */
  public static final int MOST_DEVICES = 16;

  /** Turns between two looks at the sockets while there is work. */
  private static final int TURNS_BETWEEN_SOCKETS = 64;

  /**
   * After so long without work the thread naps, longer and longer. Programs that poll use up every
   * core there is; a thread that sleeps is preferred to them when it wakes, one that spins is not.
   */
  private static final long SPIN_NANOS = 10_000;

  private static final long SHORTEST_NAP = 4_000;
  private static final long NAPS_NANOS = 100_000_000;
  private static final int NAP_SHARE = 16;
  private static final int SLEEP_MILLIS = 1;
  private static final int REST_MILLIS = 50;

  private final Path folder;
  private final ClientFabric fabric = new ClientFabric();
  private final List<Device> devices;
  private final ServerSocketChannel listening;
  private final Selector selector;
  private final Map<Integer, ClientProcess> processes = new HashMap<>();
  private final Set<Context> contexts = new HashSet<>();
  private Context[] open = new Context[0];
  private final Map<Long, EventQueue> events = new HashMap<>();
  private final Command.Copies copies = new Command.Copies();
  private final BitSet pages = new BitSet();
  private long tokens;
  private int pds;
  private int umems;
  private int count;
  private volatile int connections;
  private boolean closed;

  /**
   * Opens the server; programs that start from now on see its devices, and are answered once {@link
   * #run} runs.
   *
   * @param folder where its socket and its description of the devices go; created if need be
   * @param devices how many devices, 1 to {@link #MOST_DEVICES}
   * @throws IOException when the folder cannot be written, or another server uses it
   */
  public ShimServer(Path folder, int devices) throws IOException {
    if (devices < 1 || devices > MOST_DEVICES) {
      throw new IllegalArgumentException("devices=" + devices);
    }
    this.folder = folder.toAbsolutePath();
    Files.createDirectories(this.folder);
    pages.set(0);
    if (isServed(this.folder)) {
      fabric.close();
      throw new IOException("another server has " + this.folder);
    }
    Files.deleteIfExists(socket());
    this.devices = Device.make(fabric, devices);
    this.listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    this.selector = Selector.open();
    try {
      listening.bind(UnixDomainSocketAddress.of(socket()));
      listening.configureBlocking(false);
      listening.register(selector, SelectionKey.OP_ACCEPT);
      SysfsTree.write(this.folder.resolve("sysfs"), this.devices);
    } catch (IOException | RuntimeException e) {
      listening.close();
      selector.close();
      fabric.close();
      throw e;
    }
  }

  private Path socket() {
    return folder.resolve(SOCKET);
  }

  /** Whether a server answers in that folder. */
  public static boolean isServed(Path folder) {
    try (SocketChannel knock = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return knock.connect(UnixDomainSocketAddress.of(folder.resolve(SOCKET)));
    } catch (IOException e) {
      return false;
    }
  }

  /** What {@code DOORBELL_HCA} has to be for programs that are to see these devices. */
  public Path folder() {
    return folder;
  }

  /** Devices and file descriptors for events that programs have open. From any thread. */
  public int connections() {
    return connections;
  }

  /** Serves until {@code stop}, which is asked many times a second. */
  public void run(BooleanSupplier stop) throws IOException {
    ProcessMemory.wakePunctually();
    long busy = System.nanoTime();
    int turns = 0;
    while (!stop.getAsBoolean()) {
      if (turn() > 0) {
        busy = System.nanoTime();
        if (++turns % TURNS_BETWEEN_SOCKETS != 0) {
          continue;
        }
        serve(0);
      } else if (serve(pause(System.nanoTime() - busy)) > 0) {
        busy = System.nanoTime();
      }
    }
  }

  /**
   * Waits as long as suits after so much idleness.
   *
   * @return milliseconds to wait for the sockets; 0 for not at all
   */
  private int pause(long idleNanos) {
    boolean queues = false;
    for (Context context : open) {
      queues |= context.hasQueues();
    }
    if (!queues) {
      return REST_MILLIS;
    }
    if (idleNanos < SPIN_NANOS) {
      Thread.onSpinWait();
    } else if (idleNanos < NAPS_NANOS) {
      LockSupport.parkNanos(Math.clamp(idleNanos / NAP_SHARE, SHORTEST_NAP, 1_000_000));
    } else {
      return SLEEP_MILLIS;
    }
    return 0;
  }

  /** Looks at doorbells, steps the HCAs, passes on events. */
  private int turn() {
    int work = 0;
    Context[] now = open;
    for (Context context : now) {
      work += context.look(fabric);
    }
    work += fabric.step();
    for (Context context : now) {
      work += context.tellCompletions();
    }
    for (Device device : devices) {
      for (AsyncEvent event = device.hca().pollAsyncEvent();
          event != null;
          event = device.hca().pollAsyncEvent()) {
        for (Context context : device.contexts) {
          context.tell(event);
        }
        work++;
      }
    }
    return work;
  }

  /** Serves the sockets. */
  private int serve(int millis) throws IOException {
    int ready = millis == 0 ? selector.selectNow() : selector.select(millis);
    if (ready == 0) {
      return 0;
    }
    for (SelectionKey key : selector.selectedKeys()) {
      if (!key.isValid()) {
        continue;
      }
      if (key.attachment() instanceof Connection connection) {
        if (!connection.serve()) {
          key.cancel();
          connection.close();
          count--;
          connections = count;
        }
      } else {
        accept();
      }
    }
    selector.selectedKeys().clear();
    return ready;
  }

  private void accept() throws IOException {
    SocketChannel socket = listening.accept();
    if (socket != null) {
      socket.configureBlocking(false);
      socket.register(selector, SelectionKey.OP_READ, new Connection(this, socket));
      count++;
      connections = count;
    }
  }

  // For connections and their contexts.

  /** A program opens a device. */
  Context open(int pid, int file, int number) throws Refusal {
    if (number < 0 || number >= devices.size()) {
      throw new Refusal(Errno.ENOENT);
    }
    ClientProcess process = processes.get(pid);
    if (process == null) {
      try {
        process = new ClientProcess(pid, fabric.freeSlot(), file);
      } catch (IOException e) {
        throw new Refusal(Errno.EACCES);
      }
      processes.put(pid, process);
      fabric.attach(process);
    }
    process.opened();
    Context context = new Context(this, devices.get(number), process, copies);
    contexts.add(context);
    open = contexts.toArray(Context[]::new);
    return context;
  }

  /** A program has closed a device. */
  void close(Context context) {
    context.close();
    contexts.remove(context);
    open = contexts.toArray(Context[]::new);
    context.uars().forEach(this::givePage);
    ClientProcess process = context.process();
    if (process.closed()) {
      fabric.detach(process);
      processes.remove(process.pid());
    }
  }

  EventQueue newEvents(int recordBytes) {
    tokens++;
    EventQueue queue = new EventQueue(tokens, recordBytes);
    events.put(tokens, queue);
    return queue;
  }

  @Nullable EventQueue events(long token) {
    return events.get(token);
  }

  void forget(EventQueue queue) {
    events.remove(queue.token());
  }

  /** Events come back that were taken along with others. */
  void requeue(long token, byte[] records) {
    EventQueue queue = events.get(token);
    if (queue == null) {
      return;
    }
    int bytes = queue.recordBytes();
    for (int at = 0; at + bytes <= records.length; at += bytes) {
      queue.add(Arrays.copyOfRange(records, at, at + bytes));
    }
  }

  /** A number for a doorbell page, or -1. */
  int takePage(int limit) {
    int page = pages.nextClearBit(1);
    if (page >= limit) {
      return -1;
    }
    pages.set(page);
    return page;
  }

  void givePage(int page) {
    pages.clear(page);
  }

  int nextPd() {
    return ++pds;
  }

  int nextUmem() {
    return ++umems;
  }

  /** Ends what is still open and deletes what was written to the folder. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    for (SelectionKey key : Set.copyOf(selector.keys())) {
      if (key.attachment() instanceof Connection connection) {
        connection.close();
      }
    }
    selector.close();
    listening.close();
    devices.forEach(device -> device.hca().close());
    fabric.close();
    Files.deleteIfExists(socket());
    SysfsTree.delete(folder.resolve("sysfs"));
  }
}
