package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** What has to be in a kernel's own buffers when it is done. */
public sealed interface KernelVerification {

  /** The buffers that are looked at. */
  List<String> buffers();

  /**
   * Each number is what a formula says.
   *
   * @param expected formulas by buffer
   * @param tolerance relative, of decimal numbers
   */
  record Expected(SequencedMap<String, Formula> expected, double tolerance)
      implements KernelVerification {
    public Expected {
      expected = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(expected));
    }

    @Override
    public List<String> buffers() {
      return List.copyOf(expected.keySet());
    }
  }

  /**
   * An entry of the kernel's PTX decides, on the PTX VM: a block for each rank, over copies of all
   * ranks' buffers.
   *
   * @param parameters what each parameter of the entry gets
   * @param threads of a block
   * @param buffers those among the parameters
   */
  record Entry(String name, List<String> parameters, int threads, List<String> buffers)
      implements KernelVerification {
    /** Parameters of an entry that are neither settings nor buffers. */
    public static final List<String> PARAMETERS = List.of("status", "found");

    public Entry {
      parameters = List.copyOf(parameters);
      buffers = List.copyOf(buffers);
    }
  }
}
