package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.uverbs.generated.ShimProtocol;
import dev.doorbell.interop.access.PrivateFolder;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.ClientFabric;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.LocalListener;
import dev.doorbell.interop.shim.client.LocalSocket;
import dev.doorbell.interop.shim.client.ServedWorld;
import dev.doorbell.interop.shim.client.ServerSleep;
import dev.doorbell.interop.shim.client.ThreadScheduling;
import dev.doorbell.interop.shim.gpu.GpuConnection;
import dev.doorbell.interop.shim.gpu.ProgramGpus;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.interop.shim.object.ServerTables;
import dev.doorbell.interop.shim.object.UarPage;
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
import java.util.concurrent.FutureTask;
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
  private static final String ENDED = "ended";

  /** Largest number of devices of a server. */
  public static final int MAX_DEVICES = 16;

  /** Time between two polls of the sockets while the thread does not sleep: turns differ much. */
  private static final long BETWEEN_SOCKETS_NANOS = 100_000;

  private final Path folder;
  private final ClientFabric fabric;
  private final List<ServedDevice> devices;
  private final LocalListener listening;
  private final @Nullable WireCapture capture;
  private final List<ShimConnection> sockets = new ArrayList<>();
  private final Map<Integer, ClientProcess> processes = new HashMap<>();
  private final Set<ClientContext> contexts = new HashSet<>();
  private ClientContext[] open = new ClientContext[0];
  private final ServerTables tables;
  private final ProgramGpus gpus;
  private final CmFiles connectionFiles;
  private final IdleWait idleWait = new IdleWait();
  private @Nullable ServerSleep sleep;
  private int doorbells;
  private volatile int wakes;
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
    this.gpus = options.emulated();
    this.tables = new ServerTables(gpus.count() > 0);
    this.fabric = new ClientFabric(options.gpus(), gpus.world());
    gpus.ring(this::findPage);
    if (isServed(this.folder)) {
      fabric.close();
      throw new IOException("another server uses " + this.folder);
    }
    Files.deleteIfExists(socket());
    Files.deleteIfExists(this.folder.resolve(ENDED));
    ServedWorld world = fabric.world();
    InProcessWire wire = world == null ? new InProcessWire() : world.wire();
    this.devices =
        ServedDevice.create(
            fabric,
            wire,
            options.devices(),
            options.addresses(),
            options.adapter(),
            options.faults());
    this.connectionFiles = new CmFiles(tables, devices);
    LocalListener opened = null;
    WireCapture begun = null;
    try {
      begun = capture(options, wire);
      opened = new LocalListener(socket());
      SysfsTree.delete(tree());
      SysfsTree.write(tree(), this.devices, options.gpus() != null, gpus.count());
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

  /**
   * Begins what takes time when a server starts: the code that calls libc, and what the first
   * kernel needs. Returns at once.
   */
  public static void prepare() {
    FutureTask<?> task =
        new FutureTask<>(
            () -> {
              ThreadScheduling.preferThisThread();
              return ProgramGpus.runFirstKernel();
            });
    Thread.ofPlatform().daemon().name("prepare").start(task);
  }

  private @Nullable WireCapture capture(ShimOptions options, InProcessWire wire)
      throws IOException {
    Path file = options.capture();
    if (file == null) {
      return null;
    }
    WireCapture begun =
        WireCapture.create(Files.createFile(file), "doorbell exec", fabric.basis(), fabric.now());
    begun.only(options.captured());
    wire.capture(begun);
    return begun;
  }

  /** The number of devices that a server has in that folder. */
  public static int servedDevices(Path folder) {
    try (Stream<Path> devices = Files.list(folder.resolve("root/sys/class/infiniband"))) {
      return (int) devices.count();
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * Serves like the constructor, in a folder that a user has named.
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
    return socketOf(folder);
  }

  static Path socketOf(Path folder) {
    return folder.resolve(SOCKET);
  }

  private Path tree() {
    return folder.resolve("root");
  }

  /** True when a server answers in that folder. */
  public static boolean isServed(Path folder) {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return probe.connect(UnixDomainSocketAddress.of(socketOf(folder)));
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

  /**
   * Serves until {@code stop}, which is called many times a second. If that fails, programs lose
   * their connections, and the reason is in the file "ended" of the folder, where they look for it.
   */
  public void run(BooleanSupplier stop) {
    try {
      serveUntil(stop);
    } catch (RuntimeException | Error e) {
      leave(e);
      throw e;
    }
  }

  /** Writes the reason down and ends the connections, so that no program waits for an answer. */
  private void leave(Throwable failure) {
    try {
      Files.writeString(folder.resolve(ENDED), failure + "\n");
      listening.close();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
    for (ShimConnection connection : sockets) {
      try {
        connection.close();
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }

  private void serveUntil(BooleanSupplier stop) {
    ThreadScheduling.preferThisThread();
    ServerSleep state = new ServerSleep();
    sleep = state;
    long busy = System.nanoTime();
    long looked = busy;
    while (!stop.getAsBoolean()) {
      boolean worked = turn() > 0;
      long now = System.nanoTime();
      if (worked) {
        busy = now;
      }
      long wait = worked ? 0 : idleWait.nanos(now - busy, hasQueues());
      if (wait > 0) {
        if (sleep(state, wait)) {
          busy = System.nanoTime();
        }
      } else if (now - looked >= BETWEEN_SOCKETS_NANOS) {
        looked = now;
        if (serve(0) > 0) {
          busy = System.nanoTime();
        }
      } else if (!worked) {
        Thread.onSpinWait();
      }
    }
  }

  /** Sleeps, unless a last look finds work. True if there was some before or after. */
  private boolean sleep(ServerSleep state, long nanos) {
    state.begin();
    boolean found = turn() > 0;
    int served = found ? 0 : serve(fabric.untilTimer(nanos));
    boolean rung = state.end();
    if (rung) {
      idleWait.onMessage();
    }
    if (found || served > 0 || rung) {
      return true;
    }
    int before = doorbells;
    boolean late = turn() > 0;
    if (doorbells != before) {
      idleWait.onDoorbellWithoutMessage();
    }
    return late;
  }

  /** Returns how often a program's doorbell has woken the thread. Callable from any thread. */
  int wakes() {
    return wakes;
  }

  private boolean hasQueues() {
    for (ClientContext context : open) {
      if (context.hasQueues()) {
        return true;
      }
    }
    return false;
  }

  /** Looks once at doorbells, HCAs and sockets, and waits for none of them. */
  public void step() {
    turn();
    serve(0);
  }

  int turn() {
    int work = 0;
    ClientContext[] now = open;
    for (ClientContext context : now) {
      work += context.pollDoorbells(fabric);
    }
    doorbells += work;
    work += fabric.step();
    work += gpus.step();
    work += connectionFiles.expire();
    if (capture != null) {
      capture.flushEachSecond();
    }
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

  /** Serves the sockets and late receives; returns the number of those that there were. */
  private int serve(long nanos) {
    boolean isNew = listening.await(sockets, nanos);
    wakes = listening.wakes();
    int served = 0;
    for (int i = sockets.size() - 1; i >= 0; i--) {
      ShimConnection connection = sockets.get(i);
      boolean ready = connection.socket().takeReady();
      if (ready || connection.hasUnsent() || connection.isOverdue()) {
        served += ready ? 1 : 0;
        if (!connection.serve() || connection.isOverdue()) {
          sockets.remove(i);
          connection.carryOut();
          connection.close();
        }
      }
    }
    if (isNew) {
      LocalSocket accepted = listening.accept();
      if (accepted != null) {
        sockets.add(new ShimConnection(this, accepted));
        served++;
      }
    }
    connections = sockets.size();
    for (ClientContext context : open) {
      served += context.pollFailed(fabric);
    }
    return served;
  }

  /**
   * Writes the files of all ports anew.
   *
   * @return errno, or 0
   */
  int control(int number, long action) {
    if (number < 0 || number >= devices.size()) {
      return Errno.ENODEV;
    }
    if (action != ShimProtocol.PORT_REFRESH) {
      return Errno.EINVAL;
    }
    try {
      for (ServedDevice device : devices) {
        List<ClientContext> users =
            contexts.stream().filter(context -> context.device() == device).toList();
        SysfsTree.writeChanging(tree(), device, users);
      }
      return 0;
    } catch (IOException e) {
      return Errno.EACCES;
    }
  }

  CmFiles connectionFiles() {
    return connectionFiles;
  }

  ServerTables tables() {
    return tables;
  }

  /**
   * A program opens a device.
   *
   * @param inherited the program's parent had opened it
   */
  ClientContext openDevice(int pid, int file, int number, boolean inherited) throws ErrnoException {
    ErrnoException.require(number >= 0 && number < devices.size(), Errno.ENOENT);
    ClientProcess process = processes.get(pid);
    if (process == null) {
      try {
        process = new ClientProcess(pid, fabric.freeSlot(), file);
      } catch (ClientProcess.UnsealedFileException e) {
        throw new ErrnoException(Errno.EPERM);
      } catch (IOException e) {
        throw new ErrnoException(Errno.EACCES);
      }
      processes.put(pid, process);
      fabric.attach(process);
      if (sleep != null) {
        sleep.attach(process, listening);
      }
    }
    process.reach(gpus.window(pid));
    process.onDeviceOpened();
    ClientContext context = new ClientContext(tables, devices.get(number), process, inherited);
    contexts.add(context);
    open = contexts.toArray(ClientContext[]::new);
    return context;
  }

  /** The file by which a program wakes the serving thread, or -1 where that never sleeps. */
  int wakeFile(ClientContext context) {
    return sleep == null ? -1 : sleep.wakeFile(context.process());
  }

  private ProgramGpus.@Nullable Page findPage(int pid, Path file, long offset) {
    ClientProcess process = processes.get(pid);
    if (process == null || !process.shares(file)) {
      return null;
    }
    for (ClientContext context : contexts) {
      UarPage page = context.process().equals(process) ? context.pageAt(offset) : null;
      if (page != null) {
        return new ProgramGpus.Page(
            context.device().locus(), address -> context.route(fabric, page, address));
      }
    }
    return null;
  }

  void hostActs() {
    fabric.hostActs();
  }

  void closeDevice(ClientContext context) {
    context.close();
    contexts.remove(context);
    open = contexts.toArray(ClientContext[]::new);
    ClientProcess process = context.process();
    if (process.onDeviceClosed()) {
      fabric.detach(process);
      if (sleep != null) {
        sleep.detach(process, listening);
      }
      processes.remove(process.pid());
      gpus.retire(processes::containsKey);
    }
  }

  /** A thread of a program uses emulated GPUs; its launcher gave it a rank, below 0 for none. */
  GpuConnection openGpus(LocalSocket socket, int rank) throws ErrnoException {
    int pid = socket.pid();
    int device =
        contexts.stream()
            .filter(context -> context.process().pid() == pid)
            .mapToInt(context -> context.device().number())
            .min()
            .orElse(-1);
    GpuConnection connection = gpus.connect(socket, device, rank);
    ClientProcess process = processes.get(socket.pid());
    if (process != null) {
      process.reach(gpus.window(socket.pid()));
    }
    return connection;
  }

  void closeGpus(GpuConnection connection) {
    gpus.disconnect(connection);
    gpus.retire(processes::containsKey);
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
    idleWait.close();
    fabric.close();
    gpus.close();
    Files.deleteIfExists(socket());
    SysfsTree.delete(tree());
  }
}
