package dev.doorbell.experiments.run;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.kernels.UserKernel;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A run's own directory, open for writing.
 *
 * <pre>
 *   config.yaml    as given             manifest.json  machine, software, choices, constants
 *   resolved.yaml  with nothing open    journal.jsonl  one line a finished point
 *   samples/       one CSV a point      summary.csv, summary.json  rebuilt from the above
 *   figures/       rebuilt likewise     log.txt
 *   kernels/       the user's kernels that it runs, with their descriptors
 *   seal.json      digests of the resolved config, kernels, manifest and journal when the run ended
 * </pre>
 */
public final class RunDirectory implements Closeable {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final int HASH_DIGITS = 8;

  static final String CONFIG = "config.yaml";
  static final String RESOLVED = "resolved.yaml";
  static final String MANIFEST = "manifest.json";
  public static final String JOURNAL = "journal.jsonl";
  static final String SAMPLES = "samples";
  static final String KERNELS = "kernels";
  private static final String HIDDEN = ".part";
  private static final int MOST_NAMES = 1000;

  public static final String FIGURES = "figures";

  private final Disk disk;
  private Path path;
  private RunLog log;
  private @Nullable Journal journal;

  private RunDirectory(Disk disk, Path path) {
    this.disk = disk;
    this.path = path;
    this.log = new RunLog(path.resolve("log.txt"));
  }

  /**
   * Makes the directory of a new run with its configs, hidden until {@link #publish}: a process
   * that is killed before leaves no run that could not be resumed. When that fails nothing is left
   * behind.
   *
   * @param parent made when it is missing
   */
  public static RunDirectory prepare(Disk disk, Path parent, ExperimentConfig config, Instant now)
      throws RunException {
    Path made = null;
    try {
      Files.createDirectories(parent);
      made = makeUnique(parent, name(config, now));
      Files.createDirectory(made.resolve(SAMPLES));
      RunDirectory directory = new RunDirectory(disk, made);
      directory.put(CONFIG, config.source());
      directory.put(RESOLVED, config.resolved());
      return directory;
    } catch (IOException e) {
      if (made != null) {
        deleteAll(made);
      }
      throw new RunException(RunException.Kind.UNWRITABLE, nowhere(parent, reason(e)), e);
    }
  }

  private static Problem nowhere(Path parent, String reason) {
    return Problem.of("DB-R001", parent.toString(), "no run can be kept here: " + reason)
        .effect("no point was run, and nothing is left behind")
        .fix("make room there, or choose another folder with --out DIR");
  }

  /** Shows the directory under its own name, and opens its journal. */
  public void publish() throws RunException {
    Path shown = path.resolveSibling(id());
    try {
      Files.move(path, shown, StandardCopyOption.ATOMIC_MOVE);
      path = shown;
      log = new RunLog(path.resolve("log.txt"));
      journal = Journal.open(disk, path.resolve(JOURNAL));
    } catch (IOException e) {
      throw unwritable(shown, e);
    }
  }

  /** Opens the directory of an unfinished run to go on with it. */
  public static RunDirectory reopen(Disk disk, Path path) throws RunException {
    try {
      RunDirectory directory = new RunDirectory(disk, path);
      directory.journal = Journal.open(disk, path.resolve(JOURNAL));
      Files.deleteIfExists(path.resolve(Seal.FILE));
      return directory;
    } catch (Disk.BusyException e) {
      throw new RunException(
          RunException.Kind.UNWRITABLE,
          Problem.of("DB-R009", path.toString(), "another process is running points of this run")
              .effect("nothing was run here: two at once would record points twice")
              .fix("wait until it has ended, or end it; then: doorbell run --resume " + path),
          e);
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  private static String name(ExperimentConfig config, Instant now) {
    return "%s-%s-%s"
        .formatted(STAMP.format(now), config.name(), config.hash().substring(0, HASH_DIGITS));
  }

  private static Path makeUnique(Path parent, String name) throws IOException {
    for (int attempt = 1; ; attempt++) {
      String unique = attempt == 1 ? name : name + "-" + attempt;
      try {
        Path hidden = Files.createDirectory(parent.resolve("." + unique + HIDDEN));
        if (!Files.exists(parent.resolve(unique))) {
          return hidden;
        }
        Files.delete(hidden);
      } catch (FileAlreadyExistsException e) {
        if (!Files.isDirectory(parent)) {
          throw e;
        }
      }
      if (attempt == MOST_NAMES) {
        throw new FileAlreadyExistsException(parent.resolve(unique).toString());
      }
    }
  }

  private static void deleteAll(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException _) {
      // The reason is reported with the folder of what was kept.
    }
  }

  /** Returns the folder of a run that holds copies of the user's kernels. */
  public static Path kernels(Path run) {
    return run.resolve(KERNELS);
  }

  /** Keeps kernels with the run, so that it goes on with the same ones and can be repeated. */
  public void keep(List<UserKernel> kernels) throws RunException {
    try {
      for (UserKernel kernel : kernels) {
        Path folder = Files.createDirectories(kernels(path).resolve(kernel.name()));
        disk.replace(
            folder.resolve(kernel.name() + KernelDescriptor.ENDING),
            kernel.descriptor().text().getBytes(StandardCharsets.UTF_8));
        for (PtxFiles.Part part : PtxFiles.split(kernel.descriptor().ptx(), kernel.ptx())) {
          Path name = Path.of(part.name()).getFileName();
          disk.replace(
              folder.resolve(String.valueOf(name)), part.text().getBytes(StandardCharsets.UTF_8));
        }
      }
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  public Path path() {
    return path;
  }

  /** Returns the run's id, which is the name of the directory. */
  public String id() {
    String name = String.valueOf(path.getFileName());
    return hidden(path) ? name.substring(1, name.length() - HIDDEN.length()) : name;
  }

  private static boolean hidden(Path path) {
    String name = String.valueOf(path.getFileName());
    return name.startsWith(".") && name.endsWith(HIDDEN);
  }

  public RunLog log() {
    return log;
  }

  void record(JournalEntry entry, byte @Nullable [] samples) throws RunException {
    if (journal == null) {
      throw new IllegalStateException("run directory %s is closed".formatted(path));
    }
    try {
      if (samples != null && entry.samples() != null) {
        disk.replace(path.resolve(SAMPLES).resolve(entry.samples()), samples);
      }
      journal.append(entry);
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  /** Puts a file in place, whole or not at all. */
  public void write(String name, String text) throws RunException {
    try {
      put(name, text);
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  /** Seals the run: nothing of it but what is made from it again is written after this. */
  public void seal() throws RunException {
    try {
      put(Seal.FILE, RunJson.pretty(Seal.of(path)));
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  /** Puts figures into their folder and returns their names. */
  public List<String> writeFigures(SequencedMap<String, byte[]> figures) throws RunException {
    try {
      return RunFiles.writeAll(disk, path.resolve(FIGURES), figures);
    } catch (RunException e) {
      // Another folder would be no help: the run is here.
      throw e.getCause() instanceof IOException cause ? unwritable(path, cause) : e;
    }
  }

  private void put(String name, String text) throws IOException {
    disk.replace(path.resolve(name), text.getBytes(StandardCharsets.UTF_8));
  }

  private static RunException unwritable(Path path, IOException e) {
    if (hidden(path)) { // which close() removes: it is no place to send anybody to
      return new RunException(
          RunException.Kind.UNWRITABLE, nowhere(path.resolveSibling("").normalize(), reason(e)), e);
    }
    return new RunException(
        RunException.Kind.UNWRITABLE,
        Problem.of("DB-R002", path.toString(), "cannot write: " + reason(e))
            .effect("points in the journal are safe; the others are not recorded")
            .fix("make room or fix the permission, then: doorbell run --resume " + path),
        e);
  }

  /** Reads a file of a run, if it is a regular file. */
  public static byte[] bytes(Path file) throws IOException {
    return Files.readAllBytes(regular(file));
  }

  /** Returns a file that can be read without waiting; refuses a pipe or a device in its place. */
  static Path regular(Path file) throws FileSystemException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new FileSystemException(file.toString(), null, "it is no regular file");
    }
    return file;
  }

  /** Returns the operating system's message without the class names of Java. */
  static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> "no permission for " + denied.getFile();
      case FileAlreadyExistsException exists -> exists.getFile() + " is not a folder";
      case NoSuchFileException missing -> missing.getFile() + " does not exist";
      case FileSystemException system when system.getReason() != null ->
          // A file of a hidden folder is gone when this is read.
          String.valueOf(system.getFile()).contains(HIDDEN)
              ? system.getReason()
              : system.getReason() + " (" + system.getFile() + ")";
      default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    };
  }

  /** Ids of points that have a result, so that a resumed run need not repeat them. */
  public static List<String> finished(List<JournalEntry> entries) {
    return entries.stream()
        .filter(
            entry ->
                entry.status() == JournalEntry.Status.OK
                    || entry.status() == JournalEntry.Status.WAIVED)
        .map(JournalEntry::point)
        .toList();
  }

  /** Closes it; one that was never published is removed. */
  @Override
  public void close() {
    log.close();
    if (hidden(path)) {
      deleteAll(path);
    }
    if (journal != null) {
      try {
        journal.close();
      } catch (IOException _) {
        // Every line was forced when it was written.
      }
      journal = null;
    }
  }

  /**
   * The run's log: what happened when. Safe from any thread. A log that cannot be written does not
   * stop a run.
   */
  public static final class RunLog implements Closeable {
    private final Path path;
    private @Nullable BufferedWriter writer;
    private boolean broken;

    RunLog(Path path) {
      this.path = path;
    }

    /** Adds a line with the time of day. */
    public synchronized void line(String text) {
      if (broken) {
        return;
      }
      try {
        BufferedWriter out = writer;
        if (out == null) {
          out = Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
          writer = out;
        }
        out.write("%s  %s%n".formatted(Instant.now().truncatedTo(ChronoUnit.MILLIS), text));
        out.flush();
      } catch (IOException _) {
        broken = true;
      }
    }

    /** Adds a fault of Doorbell itself with its stack trace, which the terminal does not show. */
    public void fault(String where, Throwable fault) {
      StringWriter trace = new StringWriter();
      fault.printStackTrace(new PrintWriter(trace));
      line(where + ": " + trace);
    }

    @Override
    public synchronized void close() {
      broken = true;
      if (writer != null) {
        try {
          writer.close();
        } catch (IOException _) {
          // Each line was flushed.
        }
      }
    }
  }

  /** Writes files that were made from a run. */
  public static final class RunFiles {
    private RunFiles() {}

    /**
     * Puts files into a folder, each whole or not at all.
     *
     * @return their names
     */
    public static List<String> writeAll(Disk disk, Path folder, SequencedMap<String, byte[]> files)
        throws RunException {
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        write(disk, folder.resolve(file.getKey()), file.getValue());
      }
      return List.copyOf(files.keySet());
    }

    /** Puts a file into a folder, which is made when it is missing. */
    public static void write(Disk disk, Path file, byte[] bytes) throws RunException {
      try {
        Files.createDirectories(file.toAbsolutePath().resolveSibling(""));
        disk.replace(file, bytes);
      } catch (IOException e) {
        throw new RunException(
            RunException.Kind.UNWRITABLE,
            Problem.of("DB-R004", file.toString(), "cannot write: " + RunDirectory.reason(e))
                .effect("files that stood there are whole")
                .fix("make room there, or choose another place"),
            e);
      }
    }
  }
}
