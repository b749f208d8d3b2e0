package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.ClientFabric;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.LocalListener;
import dev.doorbell.interop.shim.client.LocalSocket;
import dev.doorbell.interop.shim.client.RunnableThreads;
import dev.doorbell.interop.shim.client.ThreadScheduling;
import dev.doorbell.interop.shim.client.UnsealedFileException;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.interop.shim.object.ServerTables;
import dev.doorbell.softhca.wire.InProcessWire;
import dev.doorbell.softhca.wire.WireCapture;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Serves software HCAs to programs that run under the preload library of {@code
 * host-runtime/uverbs-shim}, with {@code DOORBELL_HCA} naming this server's folder.
 *
 * <p>All devices are on one wire; programs that open them reach each other. The objects of a
 * program are closed when it closes the device or ends. {@link #run} does all the work, on one
 * thread.
 */
public final class ShimServer implements AutoCloseable {
  private static final String SOCKET = "socket";

  /** Largest number of devices of a server. */
  public static final int MAX_DEVICES = 16;

  /** Turns between two polls of the sockets while there is work. */
  private static final int TURNS_BETWEEN_SOCKETS = 64;

  /**
   * After this time without work the thread sleeps, for longer and longer times, where programs
   * keep all cores busy: the scheduler prefers a thread that wakes to them, but not one that spins.
   */
  private static final long SPIN_NANOS = 10_000;

  /**
   * After this time it sleeps although a core is free. Under some hypervisors a sleep takes more
   * than 50 us, however short it is meant to be.
   */
  private static final long SPARE_SPIN_NANOS = 1_000_000;

  private static final long MIN_SLEEP_NANOS = 4_000;
  private static final long MAX_SLEEP_NANOS = 1_000_000;
  private static final int SLEEP_FRACTION = 16;
  private static final long NO_QUEUES_NANOS = 50_000_000;

  private final Path folder;
  private final ClientFabric fabric = new ClientFabric();
  private final List<ServedDevice> devices;
  private final LocalListener listening;
  private final @Nullable WireCapture capture;
  private final List<ShimConnection> sockets = new ArrayList<>();
  private final Map<Integer, ClientProcess> processes = new HashMap<>();
  private final Set<ClientContext> contexts = new HashSet<>();
  private ClientContext[] open = new ClientContext[0];
  private final ServerTables tables = new ServerTables();
  private final RunnableThreads runnable =
      new RunnableThreads(Runtime.getRuntime().availableProcessors());
  private volatile int connections;
  private boolean closed;

  /**
   * Opens the server. Programs that start from now on see its devices; {@link #run} answers them.
   *
   * @param folder for its socket and the description of the devices, which only this user can
   *     enter; created if it does not exist
   * @param options number of devices, faults, capture
   * @throws IOException when the folder or the capture cannot be written, or another server uses
   *     the folder
   */
  public ShimServer(Path folder, ShimOptions options) throws IOException {
    this.folder = PrivateFolder.open(folder);
    if (isServed(this.folder)) {
      fabric.close();
      throw new IOException("another server uses " + this.folder);
    }
    Files.deleteIfExists(socket());
    InProcessWire wire = new InProcessWire();
    this.devices =
        ServedDevice.create(fabric, wire, options.devices(), options.adapter(), options.faults());
    LocalListener opened = null;
    WireCapture begun = null;
    try {
      begun = capture(options, wire);
      opened = new LocalListener(socket());
      SysfsTree.delete(tree());
      SysfsTree.write(tree(), this.devices);
    } catch (IOException | RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      if (begun != null) {
        begun.close();
      }
      Files.deleteIfExists(socket());
      fabric.close();
      throw e;
    }
    this.listening = opened;
    this.capture = begun;
  }

  private @Nullable WireCapture capture(ShimOptions options, InProcessWire wire)
      throws IOException {
    Path file = options.capture();
    if (file == null) {
      return null;
    }
    WireCapture begun =
        WireCapture.create(
            Files.createFile(file), "doorbell hca exec", fabric.basis(), fabric.now());
    wire.capture(begun);
    return begun;
  }

  /** The number of devices that a server has in that folder. */
  public static int servedDevices(Path folder) {
    try (Stream<Path> nodes = Files.list(folder.resolve("root/dev/infiniband"))) {
      return (int) nodes.count();
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * As the constructor, for a folder that a user has named.
   *
   * @throws EnvironmentException instead of an IOException, with the fix
   */
  public static ShimServer open(Path folder, ShimOptions options) throws EnvironmentException {
    try {
      return new ShimServer(folder, options);
    } catch (FileAlreadyExistsException e) {
      throw new EnvironmentException(
          Problem.of("DB-E046", e.getFile(), "it exists already")
              .fix("name a new file in a folder that can be written"));
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E049", folder.toString(), "devices cannot be served here: " + e)
              .fix(
                  "name a folder of your own with --at, of mode 0700 or one that does not exist;"
                      + " its path may have 90 characters"));
    }
  }

  private Path socket() {
    return folder.resolve(SOCKET);
  }

  private Path tree() {
    return folder.resolve("root");
  }

  /** True when a server answers in that folder. */
  public static boolean isServed(Path folder) {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return probe.connect(UnixDomainSocketAddress.of(folder.resolve(SOCKET)));
    } catch (IOException e) {
      return false;
    }
  }

  /** The value of {@code DOORBELL_HCA} for programs that use these devices. */
  public Path folder() {
    return folder;
  }

  /** The number of devices and event descriptors that programs have open. From any thread. */
  public int connections() {
    return connections;
  }

  /** Serves until {@code stop}, which is called many times a second. */
  public void run(BooleanSupplier stop) {
    ThreadScheduling.preferShortWaits();
    long busy = System.nanoTime();
    int turns = 0;
    while (!stop.getAsBoolean()) {
      if (turn() > 0) {
        busy = System.nanoTime();
        if (++turns % TURNS_BETWEEN_SOCKETS != 0) {
          continue;
        }
        serve(0);
        continue;
      }
      long wait = pause(System.nanoTime() - busy);
      if (wait == 0) {
        Thread.onSpinWait();
      } else if (serve(wait) > 0) {
        busy = System.nanoTime();
      }
    }
  }

  /** Looks once at doorbells, HCAs and sockets, and waits for none of them. */
  public void step() {
    turn();
    serve(0);
  }

  /**
   * How long to wait for the sockets: longer the longer there has been no work.
   *
   * @return nanoseconds; 0 for not at all
   */
  private long pause(long idleNanos) {
    if (idleNanos < SPIN_NANOS) {
      return 0;
    }
    boolean hasQueues = false;
    for (ClientContext context : open) {
      hasQueues |= context.hasQueues();
    }
    if (!hasQueues) {
      return NO_QUEUES_NANOS;
    }
    if (idleNanos < SPARE_SPIN_NANOS && runnable.haveCores()) {
      return 0;
    }
    return Math.clamp(idleNanos / SLEEP_FRACTION, MIN_SLEEP_NANOS, MAX_SLEEP_NANOS);
  }

  /** Polls doorbells, steps the HCAs, passes on events. */
  private int turn() {
    int work = 0;
    ClientContext[] now = open;
    for (ClientContext context : now) {
      work += context.pollDoorbells(fabric);
    }
    work += fabric.step();
    for (ClientContext context : now) {
      work += context.forwardCompletionEvents();
    }
    for (ServedDevice device : devices) {
      for (AsyncEvent event = device.hca().pollAsyncEvent();
          event != null;
          event = device.hca().pollAsyncEvent()) {
        for (ClientContext context : now) {
          if (context.device() == device) {
            context.onAsyncEvent(event);
          }
        }
        work++;
      }
    }
    return work;
  }

  /** Serves the sockets; returns the number of those that were ready. */
  private int serve(long nanos) {
    boolean[] ready = listening.await(sockets, nanos);
    int served = 0;
    for (int i = sockets.size() - 1; i >= 0; i--) {
      ShimConnection connection = sockets.get(i);
      if (ready[i] || connection.isWaiting()) {
        served += ready[i] ? 1 : 0;
        if (!connection.serve()) {
          sockets.remove(i);
          connection.close();
        }
      }
    }
    if (ready[ready.length - 1]) {
      LocalSocket accepted = listening.accept();
      if (accepted != null) {
        sockets.add(new ShimConnection(this, accepted));
        served++;
      }
    }
    connections = sockets.size();
    return served;
  }

  ServerTables tables() {
    return tables;
  }

  /** A program opens a device. */
  ClientContext openDevice(int pid, int file, int number) throws ErrnoException {
    ErrnoException.require(number >= 0 && number < devices.size(), Errno.ENOENT);
    ClientProcess process = processes.get(pid);
    if (process == null) {
      try {
        process = new ClientProcess(pid, fabric.freeSlot(), file);
      } catch (UnsealedFileException e) {
        throw new ErrnoException(Errno.EPERM);
      } catch (IOException e) {
        throw new ErrnoException(Errno.EACCES);
      }
      processes.put(pid, process);
      fabric.attach(process);
    }
    process.onDeviceOpened();
    ClientContext context = new ClientContext(tables, devices.get(number), process);
    contexts.add(context);
    open = contexts.toArray(ClientContext[]::new);
    return context;
  }

  /** A program has closed a device. */
  void closeDevice(ClientContext context) {
    context.close();
    contexts.remove(context);
    open = contexts.toArray(ClientContext[]::new);
    ClientProcess process = context.process();
    if (process.onDeviceClosed()) {
      fabric.detach(process);
      processes.remove(process.pid());
    }
  }

  /** Closes what is still open and deletes the files in the folder. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    sockets.forEach(ShimConnection::close);
    listening.close();
    devices.forEach(device -> device.hca().close());
    if (capture != null) {
      capture.close();
    }
    runnable.close();
    fabric.close();
    Files.deleteIfExists(socket());
    SysfsTree.delete(tree());
  }
}
