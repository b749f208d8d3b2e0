package dev.doorbell.interop.shim.client;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PageRange;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A process that has devices open: its memory, and the file that it shares with this process. A
 * shared page lies in the file at its own address, so that any range of shared pages is one mapping
 * here.
 */
public final class ClientProcess {
  /** Addresses of programs end here; bus addresses have the process's slot above. */
  public static final int ADDRESS_BITS = 47;

  private static final long ADDRESS_LIMIT = 1L << ADDRESS_BITS;
  private static final long PAGE = AddressSpace.PAGE;

  /** {@code TMPFS_MAGIC}: pages of a file of huge pages can be missing although it is sealed. */
  private static final long TMPFS = 0x0102_1994;

  private static final Pattern EXPORTED =
      Pattern.compile("/memfd:doorbell-dmabuf-(\\p{XDigit}{1,15})-(\\p{XDigit}{1,15}) .*");

  private final int pid;
  private final int slot;
  private final LinuxCalls libc = new LinuxCalls();
  private final int file;
  private final ClientMemory memory;

  /** Shared pages, and the number of leases that each is part of. */
  private final Map<Long, Integer> pages = new HashMap<>();

  /** Those of them that no lease needs any more. */
  private final TreeSet<Long> idle = new TreeSet<>();

  private int openDevices;

  /** GPU memory that the program has shared for the command that it repeats, or null. */
  private @Nullable GpuRange offered;

  private @Nullable SharedGpus gpus;

  /** Memory of emulated GPUs that the process has mapped where it lies here, or null. */
  private @Nullable GpuWindow window;

  /**
   * @param slot a number of its own among the processes, from 1
   * @param descriptor number of the shared file in the process
   * @throws UnsealedFileException when the file is none of memory, can become shorter, or is too
   *     short
   * @throws IOException when the file cannot be opened
   */
  public ClientProcess(int pid, int slot, int descriptor) throws IOException {
    this.pid = pid;
    this.slot = slot;
    this.memory = new ClientMemory(pid);
    this.file = openSealed(libc, "/proc/%d/fd/%d".formatted(pid, descriptor));
  }

  /**
   * Opens a file in memory that can never become shorter. A page that is taken away while it is
   * mapped here would end this process.
   */
  private static int openSealed(LinuxCalls libc, String path) throws IOException {
    int opened = libc.open(path);
    if (opened < 0) {
      throw new IOException("%s cannot be opened: errno %d".formatted(path, -opened));
    }
    int seals = libc.seals(opened);
    if (seals < 0
        || (seals & LinuxCalls.SEAL_SHRINK) == 0
        || libc.fileSystem(opened) != TMPFS
        || Files.size(Path.of("/proc/self/fd/" + opened)) < UverbsAbi.FILE_BYTES) {
      libc.close(opened);
      throw new UnsealedFileException(path);
    }
    return opened;
  }

  /** True when an opened file is the one that the process shares. */
  public boolean shares(Path opened) {
    try {
      return Files.isSameFile(Path.of("/proc/self/fd/" + file), opened);
    } catch (IOException e) {
      return false;
    }
  }

  public int pid() {
    return pid;
  }

  int slot() {
    return slot;
  }

  /** The fabric that the process belongs to reaches these GPUs. */
  void attached(@Nullable SharedGpus reached) {
    gpus = reached;
  }

  /**
   * The program shares memory of a GPU, for the command that it repeats.
   *
   * @param pieces with descriptors of the program
   * @throws ErrnoException ENODEV when no GPU is served, EFAULT when the memory cannot be opened
   */
  public void offer(List<SharedGpus.Piece> pieces) throws ErrnoException {
    SharedGpus served = ErrnoException.present(gpus, Errno.ENODEV);
    withdraw();
    List<SharedGpus.Piece> own = new ArrayList<>();
    try {
      for (SharedGpus.Piece piece : pieces) {
        int descriptor = piece.descriptor();
        if (piece.kind() == SharedGpus.Kind.DESCRIPTOR) {
          descriptor = libc.descriptorOf(pid, descriptor);
          ErrnoException.require(descriptor >= 0, Errno.EACCES);
        }
        own.add(
            new SharedGpus.Piece(
                piece.kind(),
                piece.start(),
                piece.bytes(),
                piece.device(),
                piece.handle(),
                descriptor));
      }
      offered = new GpuRange(served.open(own), own);
    } catch (GpuException e) {
      System.err.println("doorbell: memory of a program's GPU cannot be opened: " + e.getMessage());
      throw new ErrnoException(Errno.EFAULT);
    } finally {
      for (SharedGpus.Piece piece : own) {
        if (piece.kind() == SharedGpus.Kind.DESCRIPTOR) {
          libc.close(piece.descriptor());
        }
      }
    }
  }

  /**
   * Takes what the program has shared of a GPU. Whoever takes it closes it.
   *
   * @throws PagesNotShared when it has shared nothing yet
   * @throws ErrnoException EFAULT when that is no memory of the program, or not all of the range
   */
  public GpuRange take(long start, long bytes) throws ErrnoException, PagesNotShared {
    GpuRange range = offered;
    if (range == null) {
      throw PagesNotShared.onGpu(start, bytes);
    }
    ErrnoException.require(range.contains(start, bytes), Errno.EFAULT);
    offered = null;
    return range;
  }

  /** The command has ended: what it did not take is closed. */
  public void withdraw() {
    if (offered != null) {
      offered.close();
      offered = null;
    }
  }

  /** The process has memory of emulated GPUs, which devices reach as their own. */
  public void reach(@Nullable GpuWindow of) {
    window = of;
  }

  private boolean isInWindow(long start, long bytes) {
    GpuWindow of = window;
    return of != null && of.contains(start, bytes);
  }

  /** The address of a part of a dma-buf: the name of its file has address and length. */
  public long exported(int descriptor, long offset, long bytes) throws ErrnoException {
    Matcher file;
    try {
      Path link = Path.of("/proc/%d/fd/%d".formatted(pid, descriptor));
      file = EXPORTED.matcher(Files.readSymbolicLink(link).toString());
    } catch (IOException e) {
      throw new ErrnoException(Errno.EBADF);
    }
    ErrnoException.require(file.matches(), Errno.EINVAL);
    long start = Long.parseLong(file.group(1), 16);
    long length = Long.parseLong(file.group(2), 16);
    ErrnoException.require(
        isInWindow(start, length) && offset >= 0 && bytes > 0 && offset <= length - bytes,
        Errno.EINVAL);
    return start + offset;
  }

  /** The memory of a queue in a GPU's memory. */
  public Memory queueMemory(Lease lease) {
    SharedGpus served = gpus;
    return served != null && ClientFabric.isOnGpu(lease.address())
        ? new GpuQueueMemory(served, lease.address(), lease.bytes())
        : new LeasedMemory(lease.address(), lease.bytes());
  }

  /**
   * A part of a GPU's memory.
   *
   * @param start the program's address
   */
  public static Lease lease(GpuRange range, long start, long bytes) {
    return new Lease(range, range.busAddress(start), bytes);
  }

  /** The address by which devices reach a byte of the process. */
  public long busAddress(long address) {
    return isInWindow(address, 1) ? address : (long) slot << ADDRESS_BITS | address;
  }

  /** True when a range that is not empty lies within a program's addresses. */
  public static boolean isLegal(long start, long bytes) {
    return start >= 0 && bytes > 0 && start < ADDRESS_LIMIT && bytes <= ADDRESS_LIMIT - start;
  }

  public ClientMemory memory() {
    return memory;
  }

  private static long pageOf(long address) {
    return address & -PAGE;
  }

  /**
   * Requires that a range is shared; called before a command changes anything.
   *
   * @throws PagesNotShared with the first pages that are not
   */
  public void requireShared(long start, long bytes) throws ErrnoException, PagesNotShared {
    ErrnoException.require(isLegal(start, bytes), Errno.EFAULT);
    if (isInWindow(start, bytes)) {
      return;
    }
    long end = start + bytes;
    long from = pageOf(start);
    while (from < end && pages.containsKey(from)) {
      from += PAGE;
    }
    long to = from;
    while (to < end && !pages.containsKey(to)) {
      to += PAGE;
    }
    if (from < to) {
      ErrnoException.require(isMapped(from, to - from, true), Errno.EFAULT);
      throw new PagesNotShared(new PageRange(from, to - from));
    }
  }

  /** The process has shared a range; it stays shared until {@link #release}. */
  public void onShared(PageRange range) {
    addLeases(range.start(), range.end(), 1);
  }

  /** Ends what {@link #onShared} began: from now on leases alone keep the pages shared. */
  public void release(PageRange range) {
    addLeases(range.start(), range.end(), -1);
  }

  /** Removes the shared pages that no lease needs, and returns them. */
  public List<PageRange> takeUnused() {
    List<PageRange> unused = new ArrayList<>();
    long start = 0;
    long end = 0;
    for (long page : idle) {
      if (page != end) {
        if (end > start) {
          unused.add(new PageRange(start, end - start));
        }
        start = page;
      }
      end = page + PAGE;
      pages.remove(page);
    }
    if (end > start) {
      unused.add(new PageRange(start, end - start));
    }
    idle.clear();
    return unused;
  }

  /**
   * Maps a range whose pages are shared.
   *
   * @throws ErrnoException when it cannot be mapped
   */
  public Lease lease(long start, long bytes) throws ErrnoException {
    if (isInWindow(start, bytes)) {
      // A part of an emulated GPU's memory, which lies here at its own address.
      return new Lease(start, bytes, () -> {});
    }
    long first = pageOf(start);
    long end = start + bytes;
    Lease lease =
        map(
            UverbsAbi.CLIENT_OFFSET + first,
            end - first,
            start - first,
            () -> addLeases(first, end, -1));
    addLeases(first, end, 1);
    return lease;
  }

  private void addLeases(long first, long end, int more) {
    for (long page = first; page < end; page += PAGE) {
      if (pages.merge(page, more, Integer::sum) == 0) {
        idle.add(page);
      } else if (more > 0) {
        idle.remove(page);
      }
    }
  }

  /**
   * Maps a part of the file below all addresses: doorbell pages, on-chip memory.
   *
   * @throws ErrnoException when it cannot be mapped
   */
  public Lease leaseDevice(long offset, long bytes) throws ErrnoException {
    return map(offset, bytes, 0, () -> {});
  }

  private Lease map(long offset, long bytes, long within, Runnable onClose) throws ErrnoException {
    long address = libc.map(file, offset, bytes);
    ErrnoException.require(address != 0, Errno.ENOMEM);
    Runnable unmap =
        () -> {
          libc.unmap(address, bytes);
          onClose.run();
        };
    return new Lease(address + within, bytes - within, unmap);
  }

  /** True when the process has mapped a whole range for reading and, if asked, for writing. */
  public boolean isMapped(long start, long bytes, boolean writable) {
    long at = start;
    // Line by line: the kernel writes what is read, and a program may have thousands of mappings.
    try (BufferedReader maps = Files.newBufferedReader(Path.of("/proc/%d/maps".formatted(pid)))) {
      for (String line = maps.readLine(); line != null; line = maps.readLine()) {
        int dash = line.indexOf('-');
        int space = line.indexOf(' ');
        long from = Long.parseUnsignedLong(line, 0, dash, 16);
        long to = Long.parseUnsignedLong(line, dash + 1, space, 16);
        if (Long.compareUnsigned(to, at) <= 0) {
          continue;
        }
        if (Long.compareUnsigned(from, at) > 0
            || line.charAt(space + 1) != 'r'
            || (writable && line.charAt(space + 2) != 'w')) {
          return false;
        }
        at = to;
        if (at - start >= bytes) {
          return true;
        }
      }
    } catch (IOException e) {
      return false;
    }
    return false;
  }

  public void onDeviceOpened() {
    openDevices++;
  }

  /** Closes the file with the last device; returns true then. */
  public boolean onDeviceClosed() {
    if (--openDevices > 0) {
      return false;
    }
    libc.close(file);
    return true;
  }

  /** The file that a program offers to share could become shorter while it is mapped. */
  public static final class UnsealedFileException extends IOException {
    private static final long serialVersionUID = 1L;

    UnsealedFileException(String path) {
      super(
          "%s is no file of memfd_create that is long enough and sealed against shrinking"
              .formatted(path));
    }
  }
}
