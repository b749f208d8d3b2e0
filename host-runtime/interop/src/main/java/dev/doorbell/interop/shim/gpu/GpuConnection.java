package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.gpu.GpuAttributes;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.ClientMemory;
import dev.doorbell.interop.shim.client.GpuWindow;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a program that uses GPUs: one request at a time, of 64-bit numbers with bytes behind
 * them ({@code protocol.h} in {@code host-runtime/cuda-shim}). A request that waits holds up its
 * thread alone.
 */
public final class GpuConnection {
  private static final int PART_BYTES = 1 << 16;
  private static final int MOST_TEXT = 32 << 10;
  private static final int FAT_BINARY = 0;
  private static final int MOST_THREADS = 1024;
  private static final byte[] NOTHING = {};

  /**
   * Requests behind which addresses are used again: kernels that have ended come before, as before
   * {@code cudaFree}. Others tell of ends if they synchronize with a stream, an event or a device.
   */
  private static final Set<GpuRequest> TELL_ALL_ENDS =
      EnumSet.of(GpuRequest.UNLOAD, GpuRequest.MAP_AT, GpuRequest.UNMAP, GpuRequest.RESET);

  private final ProgramGpus gpus;
  private final GpuProgram program;
  private final ClientMemory client;
  private @Nullable Wait waiting;

  /** A function of the program that a stream calls. */
  static final class HostCall {
    boolean reached;
    boolean done;
  }

  /** An answer that is not there yet. */
  private record Wait(BooleanSupplier ready, Supplier<Reply> reply, Consumer sink) {}

  /** Receiver of an answer. */
  @FunctionalInterface
  public interface Consumer {
    /** Sends an answer to the program. */
    void accept(Reply reply);
  }

  /**
   * An answer.
   *
   * @param hasText the library should ask for the output of printf or of an error
   */
  public record Reply(int status, boolean hasText, ByteBuffer payload) {}

  GpuConnection(ProgramGpus gpus, GpuProgram program, int pid) {
    this.gpus = gpus;
    this.program = program;
    this.client = new ClientMemory(pid);
  }

  GpuProgram program() {
    return program;
  }

  /** Answers a request that waits if it need not wait longer; returns true then. */
  boolean poll() {
    Wait wait = waiting;
    if (wait == null || !(program.error() != 0 || wait.ready.getAsBoolean())) {
      return false;
    }
    waiting = null;
    wait.sink.accept(wait.reply.get());
    return true;
  }

  /**
   * Carries out a request; the answer comes now or later.
   *
   * @throws IOException when it is none
   */
  public void handle(int type, byte[] content, Consumer sink) throws IOException {
    GpuRequest request = GpuRequest.of(type);
    if (request == null || waiting != null) {
      throw new IOException("a request of type %d".formatted(type));
    }
    ByteBuffer in = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    program.hostSees(TELL_ALL_ENDS.contains(request) ? null : Set.of());
    Reply reply;
    try {
      reply = run(request, in, sink);
    } catch (CudaException e) {
      program.say(String.valueOf(e.getMessage()));
      reply = reply(e.status(), NOTHING);
    } catch (GpuException | IllegalArgumentException e) {
      program.say(e.toString());
      reply = reply(CudaStatus.INVALID_VALUE, NOTHING);
    } catch (RuntimeException e) {
      program.say(program.fault(e));
      reply = reply(CudaStatus.INVALID_VALUE, NOTHING);
    }
    if (reply != null) {
      sink.accept(reply);
    }
  }

  private Reply reply(int status, byte[] bytes, long... numbers) {
    int length = Math.min(bytes.length, MOST_TEXT);
    ByteBuffer payload =
        ByteBuffer.allocate(numbers.length * Long.BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
    for (long number : numbers) {
      payload.putLong(number);
    }
    payload.put(bytes, 0, length);
    return new Reply(status, program.hasText(), payload.flip());
  }

  /** An answer of numbers; its status is an error of a kernel, if there was one. */
  private Reply numbers(long... numbers) {
    return reply(program.error(), NOTHING, numbers);
  }

  /** An answer that says that kernels have ended. */
  private Reply ended(Collection<Object> kernels, long... numbers) {
    program.hostSees(kernels);
    return numbers(numbers);
  }

  private Reply notReady() {
    return reply(CudaStatus.NOT_READY, NOTHING);
  }

  private @Nullable Reply run(GpuRequest request, ByteBuffer in, Consumer sink)
      throws CudaException {
    switch (request) {
      case OPEN -> {
        return open();
      }
      case ALLOCATE -> {
        GpuBlock.Kind kind = GpuBlock.Kind.of(in.getLong(8));
        GpuBlock block = program.allocate(in.getLong(0), kind, in.getLong(16));
        return numbers(block.allocation().address());
      }
      case FREE -> {
        long address = in.getLong(0);
        if (in.limit() == Long.BYTES) {
          program.hostSees(null);
          program.release(address);
        } else {
          CudaException.present(program.block(address), CudaStatus.INVALID_VALUE);
          program.enqueue(
              program.stream(in.getLong(8), in.getLong(16)),
              () -> {
                program.release(address);
                return true;
              });
        }
      }
      case LOAD -> {
        return numbers(load(in));
      }
      case UNLOAD -> program.unload(in.getLong(0));
      case FUNCTION -> {
        return function(in);
      }
      case VARIABLE -> {
        Memory variable = variable(in);
        return numbers(variable.address(), variable.size());
      }
      case LAUNCH -> launch(in);
      case STREAM_CREATE -> {
        return numbers(program.addStream(in.getLong(0), in.getLong(8) == 0));
      }
      case STREAM_DESTROY -> {
        StreamQueue queue = program.stream(in.getLong(0), in.getLong(8));
        return await(queue::isIdle, () -> removed(in.getLong(8)), sink);
      }
      case SYNCHRONIZE -> {
        return synchronize(in, sink);
      }
      case QUERY -> {
        StreamQueue queue = program.stream(in.getLong(0), in.getLong(8));
        return program.isIdle(queue) ? ended(program.kernels(queue)) : notReady();
      }
      case EVENT_CREATE -> {
        return numbers(program.addEvent(new EventState()));
      }
      case EVENT_EXPORT -> {
        return numbers(gpus.export(program, program.event(in.getLong(0))));
      }
      case EVENT_IMPORT -> {
        return numbers(program.addEvent(gpus.exportedEvent(in.getLong(0))));
      }
      case EVENT_DESTROY -> program.removeEvent(in.getLong(0));
      case EVENT_RECORD ->
          program.record(
              program.event(in.getLong(0)), program.stream(in.getLong(8), in.getLong(16)));
      case EVENT_SYNCHRONIZE -> {
        EventState event = program.event(in.getLong(0));
        return await(event::isReached, () -> ended(event.kernels), sink);
      }
      case EVENT_QUERY -> {
        EventState event = program.event(in.getLong(0));
        return event.isReached() ? ended(event.kernels) : notReady();
      }
      case EVENT_ELAPSED -> {
        EventState from = program.event(in.getLong(0));
        EventState to = program.event(in.getLong(8));
        CudaException.require(from.recorded > 0 && to.recorded > 0, CudaStatus.INVALID_HANDLE);
        CudaException.require(from.isReached() && to.isReached(), CudaStatus.NOT_READY);
        return ended(to.kernels, to.nanos - from.nanos);
      }
      case STREAM_WAIT -> {
        EventState event = program.event(in.getLong(16));
        program.await(program.stream(in.getLong(0), in.getLong(8)), event);
      }
      case COPY -> copy(in);
      case FILL -> fill(in);
      case STORE -> store(in);
      case HOST_CALL -> {
        return numbers(hostCall(in));
      }
      case HOST_AWAIT -> {
        HostCall call = program.hostCall(in.getLong(0));
        return await(() -> call.reached, this::numbers, sink);
      }
      case HOST_DONE -> program.endHostCall(in.getLong(0));
      case WAIT_VALUE -> waitValue(in);
      case MAP_FILE -> {
        return numbers(mapFile(in));
      }
      case EXPORT -> {
        return export(in.getLong(0));
      }
      case IMPORT -> {
        return importBlock(in);
      }
      case POINTER -> {
        GpuBlock block =
            CudaException.present(program.block(in.getLong(0)), CudaStatus.INVALID_VALUE);
        Allocation at = block.allocation();
        return numbers(block.kind().number(), block.device(), at.address(), at.size());
      }
      case MEMORY -> {
        return numbers(program.free(in.getLong(0)), GpuProgram.MEMORY_BYTES);
      }
      case RESET -> program.reset();
      case TEXT -> {
        return text(in.getLong(0) != 0);
      }
      case MISSING -> gpus.miss(rest(in, 0));
      case MAP_AT ->
          program.mapAt(in.getLong(0), in.getLong(24), file(in.getLong(8)), in.getLong(16));
      case UNMAP -> program.mapAt(in.getLong(0), in.getLong(8), null, 0);
    }
    return numbers();
  }

  private @Nullable Reply await(BooleanSupplier ready, Supplier<Reply> reply, Consumer sink) {
    if (program.error() != 0 || ready.getAsBoolean()) {
      return reply.get();
    }
    waiting = new Wait(ready, reply, sink);
    return null;
  }

  private Reply open() throws CudaException {
    GpuAttributes attributes = program.gpu(0).attributes();
    GpuWindow window = program.window();
    return numbers(
        window.base(),
        window.bytes(),
        window.file(),
        program.gpus(),
        attributes.computeCapability(),
        attributes.multiprocessors(),
        attributes.maxThreadsPerBlock(),
        attributes.maxResidentBlocks(),
        attributes.sharedBytesPerBlock(),
        GpuProgram.MEMORY_BYTES,
        program.peers());
  }

  private Reply removed(long stream) {
    program.removeStream(stream);
    return numbers();
  }

  /** Waits for a stream, or for all of a device where the stream is -1. */
  private @Nullable Reply synchronize(ByteBuffer in, Consumer sink) throws CudaException {
    long device = in.getLong(0);
    program.gpu(device);
    if (in.getLong(8) == -1) {
      return await(() -> program.isIdle(device), () -> ended(program.kernels(device)), sink);
    }
    StreamQueue queue = program.stream(device, in.getLong(8));
    if (program.isIdle(queue)) {
      return ended(program.kernels(queue));
    }
    boolean[] reached = {false};
    program.enqueue(
        queue,
        () -> {
          reached[0] = true;
          return true;
        });
    return await(() -> reached[0], this::numbers, sink);
  }

  private byte[] read(long address, long bytes) throws CudaException {
    CudaException.require(bytes >= 0 && bytes <= Integer.MAX_VALUE - 8, CudaStatus.INVALID_VALUE);
    byte[] all = new byte[(int) bytes];
    try {
      for (int at = 0; at < all.length; at += PART_BYTES) {
        byte[] part = new byte[Math.min(PART_BYTES, all.length - at)];
        client.copyIn(address + at, part);
        System.arraycopy(part, 0, all, at, part.length);
      }
    } catch (ErrnoException e) {
      throw new CudaException(CudaStatus.INVALID_VALUE, "");
    }
    return all;
  }

  /** Loads fat binaries, or PTX. In: device, form; then address and length of each part. */
  private long load(ByteBuffer in) throws CudaException {
    long device = in.getLong(0);
    int capability = program.gpu(device).attributes().computeCapability();
    boolean fat = in.getLong(8) == FAT_BINARY;
    List<byte[]> images = new ArrayList<>();
    List<ByteBuffer> key = new ArrayList<>();
    for (int at = 16; at + 16 <= in.limit(); at += 16) {
      long address = in.getLong(at);
      long bytes =
          fat ? FatBinary.bytes(read(address, FatBinary.HEADER_BYTES)) : in.getLong(at + 8);
      byte[] image = read(address, bytes);
      images.add(image);
      key.add(ByteBuffer.wrap(Sha256.of(image)));
    }
    // Each rank of a program loads the same images for its GPU.
    String known = gpus.text(key);
    if (known == null) {
      known = text(images, fat, capability);
      gpus.keep(key, known);
    }
    return program.load(device, "module of the program", known);
  }

  private static String text(List<byte[]> images, boolean fat, int capability)
      throws CudaException {
    List<PtxFiles.Part> files = new ArrayList<>();
    for (byte[] image : images) {
      String text =
          fat ? FatBinary.ptx(image, capability) : new String(image, StandardCharsets.UTF_8);
      if (text != null && !isDeviceRuntime(text)) {
        files.add(new PtxFiles.Part("file %d of the program".formatted(files.size() + 1), text, 0));
      }
    }
    if (files.isEmpty()) {
      throw new CudaException(
          CudaStatus.NO_BINARY,
          "the program has no PTX, only machine code; build it with -gencode"
              + " arch=compute_%1$d,code=compute_%1$d beside its own".formatted(capability));
    }
    return PtxFiles.join(files);
  }

  /** The library for kernels that launch kernels, which nvcc links to all relocatable code. */
  private static boolean isDeviceRuntime(String ptx) {
    return ptx.contains(".func")
        && ptx.contains("cudaGetParameterBuffer")
        && !ptx.contains(".visible .entry")
        && !ptx.contains(".weak .entry");
  }

  private static String rest(ByteBuffer in, int from) {
    return StandardCharsets.UTF_8.decode(in.slice(from, in.limit() - from)).toString();
  }

  /** Answers with number, parameters, bytes of the block; then offset and bytes of each. */
  private Reply function(ByteBuffer in) throws CudaException {
    GpuModule module = program.module(in.getLong(0));
    String name = rest(in, 8);
    Kernel kernel = CudaException.of(CudaStatus.NOT_FOUND, () -> module.kernel(name));
    int parameters = kernel.parameters();
    long[] numbers = new long[3 + 2 * parameters];
    numbers[0] = program.function(kernel);
    numbers[1] = parameters;
    numbers[2] = kernel.parameterBytes();
    for (int i = 0; i < parameters; i++) {
      numbers[3 + 2 * i] = kernel.parameterOffset(i);
      numbers[4 + 2 * i] = kernel.parameterBytes(i);
    }
    return numbers(numbers);
  }

  private Memory variable(ByteBuffer in) throws CudaException {
    GpuModule module = program.module(in.getLong(0));
    return CudaException.of(CudaStatus.NOT_FOUND, () -> module.global(rest(in, 8)));
  }

  /** In: device, stream, function, grid, block, shared bytes, cooperative; then the parameters. */
  private void launch(ByteBuffer in) throws CudaException {
    StreamQueue queue = program.stream(in.getLong(0), in.getLong(8));
    Kernel kernel = program.function(in.getLong(16));
    int[] sides = new int[6];
    long threads = 1;
    for (int i = 0; i < sides.length; i++) {
      long side = in.getLong(24 + Long.BYTES * i);
      CudaException.require(side > 0 && side <= Integer.MAX_VALUE, CudaStatus.INVALID_VALUE);
      sides[i] = (int) side;
      threads *= i < 3 ? 1 : side;
    }
    long shared = in.getLong(72);
    CudaException.require(
        threads <= MOST_THREADS
            && shared >= 0
            && shared <= program.gpu(in.getLong(0)).attributes().sharedBytesPerBlock(),
        CudaStatus.INVALID_VALUE);
    int start = 88;
    CudaException.require(in.limit() - start == kernel.parameterBytes(), CudaStatus.INVALID_VALUE);
    KernelArguments arguments = new KernelArguments();
    for (int i = 0; i < kernel.parameters(); i++) {
      byte[] value = new byte[kernel.parameterBytes(i)];
      in.get(start + kernel.parameterOffset(i), value);
      arguments.add(value);
    }
    LaunchConfig shape =
        new LaunchConfig(
            sides[0],
            sides[1],
            sides[2],
            sides[3],
            sides[4],
            sides[5],
            (int) shared,
            in.getLong(80) != 0,
            LaunchConfig.DEFAULT_TIMEOUT_NANOS);
    program.launch(queue, kernel, shape, arguments);
  }

  /** Rows of bytes. In: device, stream, to, its pitch, from, its pitch, width, height. */
  private void copy(ByteBuffer in) throws CudaException {
    long to = in.getLong(16);
    long toPitch = in.getLong(24);
    long from = in.getLong(32);
    long fromPitch = in.getLong(40);
    long width = in.getLong(48);
    long height = in.getLong(56);
    requireRows(to, toPitch, width, height);
    requireRows(from, fromPitch, width, height);
    program.enqueue(
        program.stream(in.getLong(0), in.getLong(8)),
        () -> {
          requireRows(to, toPitch, width, height);
          requireRows(from, fromPitch, width, height);
          for (long row = 0; row < height; row++) {
            RawMemory.copy(from + row * fromPitch, to + row * toPitch, width);
          }
          return true;
        });
  }

  private void requireRows(long start, long pitch, long width, long height) throws CudaException {
    CudaException.require(
        width >= 0 && height > 0 && (height == 1 || pitch >= width), CudaStatus.INVALID_VALUE);
    program.require(start, Math.addExact(Math.multiplyExact(pitch, height - 1), width));
  }

  /** Rows of elements. In: device, stream, to, pitch, value, element bytes, width, height. */
  private void fill(ByteBuffer in) throws CudaException {
    long to = in.getLong(16);
    long pitch = in.getLong(24);
    long value = in.getLong(32);
    int element = (int) in.getLong(40);
    long width = Math.multiplyExact(in.getLong(48), (long) element);
    long height = in.getLong(56);
    CudaException.require(element == 1 || element == 2 || element == 4, CudaStatus.INVALID_VALUE);
    requireRows(to, pitch, width, height);
    program.enqueue(
        program.stream(in.getLong(0), in.getLong(8)),
        () -> {
          requireRows(to, pitch, width, height);
          for (long row = 0; row < height; row++) {
            fillRow(to + row * pitch, width, value, element);
          }
          return true;
        });
  }

  private static void fillRow(long start, long bytes, long value, int element) {
    if (element == 1) {
      RawMemory.fill(start, bytes, (byte) value);
      return;
    }
    for (long at = start; at < start + bytes; at += element) {
      if (element == Short.BYTES) {
        RawMemory.putShort(at, (short) value);
      } else {
        RawMemory.putInt(at, (int) value);
      }
    }
  }

  /** Bytes of the request. In: device, stream, to; then the bytes. */
  private void store(ByteBuffer in) throws CudaException {
    long to = in.getLong(16);
    int start = 24;
    int bytes = in.limit() - start;
    program.require(to, bytes);
    MemorySegment from = MemorySegment.ofBuffer(in.slice(start, bytes));
    program.enqueue(
        program.stream(in.getLong(0), in.getLong(8)),
        () -> {
          program.require(to, bytes);
          RawMemory.copyIn(from, 0, to, bytes);
          return true;
        });
  }

  private long hostCall(ByteBuffer in) throws CudaException {
    HostCall call = new HostCall();
    StreamQueue queue = program.stream(in.getLong(0), in.getLong(8));
    program.enqueue(
        queue,
        () -> {
          if (!call.reached) {
            call.reached = true;
            program.hostSees(program.kernels(queue));
          }
          return call.done;
        });
    return program.addHostCall(call);
  }

  /** In: device, stream, address, bytes, value, condition ({@code CU_STREAM_WAIT_VALUE_*}). */
  private void waitValue(ByteBuffer in) throws CudaException {
    long address = in.getLong(16);
    boolean narrow = in.getLong(24) == Integer.BYTES;
    long value = in.getLong(32);
    int condition = (int) in.getLong(40) & 3;
    int bytes = narrow ? Integer.BYTES : Long.BYTES;
    CudaException.require((address & (bytes - 1)) == 0, CudaStatus.INVALID_VALUE);
    program.require(address, bytes);
    program.add(
        program.stream(in.getLong(0), in.getLong(8)),
        () -> {
          program.require(address, bytes);
          program.hostSees(Set.of());
          long now = narrow ? RawMemory.getIntAcquire(address) : RawMemory.getLongAcquire(address);
          return switch (condition) {
            case 0 -> (narrow ? (int) now - (int) value : now - value) >= 0;
            case 1 -> narrow ? (int) now == (int) value : now == value;
            case 2 -> (now & value) != 0;
            default -> ~(now | value) != 0;
          };
        });
  }

  /** In: device, descriptor in the program, offset, bytes. */
  private long mapFile(ByteBuffer in) throws CudaException {
    long device = in.getLong(0);
    Path file = file(in.getLong(8));
    long offset = in.getLong(16);
    long bytes = in.getLong(24);
    GpuBlock page = program.doorbells(gpus, device, file, offset, bytes);
    GpuBlock block =
        page == null ? program.overlay(device, GpuBlock.Kind.FILE, bytes, file, offset) : page;
    return block.allocation().address();
  }

  /** A file that the program has open. */
  private Path file(long descriptor) {
    return Path.of("/proc/%d/fd/%d".formatted(program.pid(), descriptor));
  }

  /** Answers with the key of the block, and the offset of the address in it. */
  private Reply export(long address) throws CudaException {
    GpuBlock block = CudaException.present(program.block(address), CudaStatus.INVALID_VALUE);
    CudaException.require(block.kind() == GpuBlock.Kind.DEVICE, CudaStatus.INVALID_VALUE);
    long start = block.allocation().address();
    return numbers(gpus.export(program, block), address - start, block.allocation().size());
  }

  /** In: device, key. Answers with the address, and what the program maps there. */
  private Reply importBlock(ByteBuffer in) throws CudaException {
    ProgramGpus.Export export =
        CudaException.present(gpus.exported(in.getLong(8)), CudaStatus.INVALID_HANDLE);
    GpuWindow window = export.of().window();
    long bytes = export.block().allocation().size();
    long offset = export.block().allocation().address() - window.base();
    if (gpus.world() != null) {
      Allocation of = export.block().allocation();
      program.borrow(new GpuBlock(of, (int) in.getLong(0), GpuBlock.Kind.IMPORTED));
      return numbers(of.address(), bytes, window.file(), offset);
    }
    GpuBlock block =
        program.overlay(
            in.getLong(0),
            GpuBlock.Kind.IMPORTED,
            bytes,
            Path.of("/proc/self/fd/" + window.file()),
            offset);
    return numbers(block.allocation().address(), bytes, window.file(), offset);
  }

  /** The output of printf, or the description of an error. */
  private Reply text(boolean ofError) {
    return reply(0, program.take(ofError, MOST_TEXT).getBytes(StandardCharsets.UTF_8));
  }
}
