package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** Everything that the command line does with a kernel outside of experiments. */
public interface KernelWorkbench {
  /** The workbench of this build. */
  static KernelWorkbench find() {
    return ServiceLoader.load(KernelWorkbench.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelWorkbench is on the class path"));
  }

  /** A kernel to start from. */
  record Template(String name, String description) {}

  /** The templates, by name. */
  List<Template> templates();

  /** Names that a new kernel must not have. */
  List<String> takenNames();

  /**
   * The files of a new kernel, by their names.
   *
   * @param folder where they will lie, as its README spells it
   * @param compile the command that compiles it again
   */
  SequencedMap<String, String> instantiate(
      String template, String name, String folder, String compile);

  /** Options of nvcc for kernels, but for the include folder and the files. */
  List<String> compilerFlags();

  /** What can be said of a PTX file without running it. */
  KernelReport check(String file, String ptx);

  /** What of a descriptor does not fit the PTX that it describes. */
  List<Problem> checkAbi(UserKernel kernel);

  /**
   * Runs a kernel whose entry and arguments have been checked against its {@link #check report}.
   *
   * @param interrupted asked now and then; a run that is interrupted is stopped
   */
  KernelOutcome run(KernelRun run, BooleanSupplier interrupted);

  /**
   * Lists a module as the virtual machine sees it.
   *
   * @param source gives the lines of a source file by its {@code .file} name and line number, or an
   *     empty text
   */
  List<String> disassemble(String file, String ptx, Source source);

  /** Lines of source files. */
  interface Source {
    /** Lines of the file, from 1; empty texts where nothing is known. */
    IntFunction<String> lines(String file);
  }
}
