package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.kernels.ProtocolKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A kernel that experiments can run: what its descriptor says, and its PTX.
 *
 * @param own one of Doorbell's, of which the closed forms speak
 */
public record Protocol(KernelDescriptor descriptor, String ptx, boolean own) {
  /** Offset and bytes of a field of {@code struct doorbell_job}, by its name in abi.h. */
  private static final Map<String, Field> FIELDS =
      Map.ofEntries(
          field("local", 0, 8),
          field("remote", 8, 8),
          field("bytes", 16, 8),
          field("iterations", 24, 8),
          field("warmup", 32, 8),
          field("samples", 40, 8),
          field("status", 48, 8),
          field("inbox", 56, 8),
          field("staging", 64, 8),
          field("staging_bytes", 72, 8),
          field("staging_wire", 80, 8),
          field("stamps", 88, 8),
          field("stride", 96, 8),
          field("operand", 104, 8),
          field("compare", 112, 8),
          field("local_key", 120, 4),
          field("remote_key", 124, 4),
          field("staging_key", 128, 4),
          field("path", 132, 4),
          field("scope", 136, 4),
          field("window", 140, 4),
          field("qp_count", 144, 4),
          field("role", 148, 4),
          field("opcode", 152, 4),
          field("chunk_bytes", 156, 4),
          field("signals", 160, 8),
          field("peers", 168, 8));

  /**
   * Protocols of Doorbell's own that were asked for, by name; an experiment names one or two of
   * many.
   */
  private static final Map<String, Protocol> READ = new ConcurrentHashMap<>();

  private record Field(int offset, int bytes) {}

  private static Map.Entry<String, Field> field(String name, int offset, int bytes) {
    return Map.entry(name, new Field(offset, bytes));
  }

  /** Its name in experiments. */
  public String name() {
    return descriptor.name();
  }

  /** Returns true if peers signal each other in words of their own. */
  public boolean signals() {
    return descriptor.launch().signals() > 0;
  }

  /** A protocol of Doorbell's own, the same object for the same name. */
  public static Protocol ofCatalogue(String name) {
    return READ.computeIfAbsent(name, Protocol::read);
  }

  private static Protocol read(String name) {
    KernelCatalogue catalogue = KernelCatalogue.load();
    return catalogue
        .find(name)
        .map(kernel -> of(catalogue, kernel))
        .orElseThrow(() -> new IllegalArgumentException("no kernel '" + name + "'"));
  }

  private static Protocol of(KernelCatalogue catalogue, ProtocolKernel kernel) {
    try {
      return new Protocol(
          new KernelDescriptorReader()
              .read(kernel.name() + KernelDescriptor.ENDING, catalogue.descriptor(kernel)),
          catalogue.ptx(kernel),
          true);
    } catch (ConfigException e) {
      throw new IllegalStateException(
          "a descriptor of this build is broken: " + e.problems().getFirst().text(), e);
    }
  }

  /** A protocol of the user's. */
  public static Protocol of(UserKernel kernel) {
    return new Protocol(kernel.descriptor(), kernel.ptx(), false);
  }

  /**
   * Arguments of the entry.
   *
   * @param parameters as descriptors name them
   * @param brought values of the kernel's own settings, metrics and buffers, by name
   * @param structures contents of parameters of the descriptor's structures, by name
   */
  public static KernelArguments arguments(
      List<String> parameters,
      Kernel entry,
      Memory views,
      Memory jobMemory,
      JobView job,
      Map<String, Long> brought,
      Map<String, byte[]> structures) {
    byte[] fields = job.encode();
    KernelArguments arguments = new KernelArguments();
    for (int i = 0; i < parameters.size(); i++) {
      String name = parameters.get(i);
      switch (name) {
        case "queue_pairs" -> arguments.add(views);
        case "job" -> arguments.add(jobMemory);
        default -> {
          byte[] structure = structures.get(name);
          if (structure != null) {
            arguments.add(structure);
            continue;
          }
          Long own = brought.get(name);
          add(arguments, own != null ? own : value(name, fields), entry.parameterBytes(i));
        }
      }
    }
    return arguments;
  }

  private static long value(String name, byte[] fields) {
    Field field = FIELDS.get(name);
    if (field == null) {
      throw new IllegalStateException("the schema lets through the parameter " + name);
    }
    MemorySegment job = MemorySegment.ofArray(fields);
    return field.bytes == Long.BYTES
        ? job.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), field.offset)
        : Integer.toUnsignedLong(
            job.get(
                ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), field.offset));
  }

  /** A number of 8 bytes may go to a parameter of 4, and the other way round. */
  static void add(KernelArguments arguments, long value, int wanted) {
    if (wanted == Integer.BYTES) {
      arguments.add((int) value);
    } else {
      arguments.add(value);
    }
  }
}
