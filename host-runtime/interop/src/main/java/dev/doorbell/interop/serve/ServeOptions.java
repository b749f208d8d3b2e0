package dev.doorbell.interop.serve;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.SocketFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a served HCA.
 *
 * @param address IPv4 or IPv6 address to listen on, which is also its GID
 * @param port UDP port for packets; 0 for a free one
 * @param control where requests are answered; null for {@link SocketFile#ofPort} of the UDP port;
 *     port 0 of TCP is the UDP port's number
 * @param mtu path MTU in bytes
 * @param memoryBytes limit of all clients together, queues included
 * @param queuePairs limit of all clients together
 * @param clients limit of connected clients
 * @param faults of its packets
 * @param capture file for a capture of all packets from the start, or null
 * @param captures folder below which clients may have captures written, or null for none
 * @param strictPeerPort packets of a connection are accepted from the UDP port of its peer alone,
 *     as Doorbell's HCAs send them; else from any port of its address, as RoCE has it
 * @param adapter what the HCA promises
 */
public record ServeOptions(
    String address,
    int port,
    @Nullable ControlPlace control,
    int mtu,
    long memoryBytes,
    int queuePairs,
    int clients,
    FaultPlan faults,
    @Nullable Path capture,
    @Nullable Path captures,
    boolean strictPeerPort,
    Adapter adapter) {

  /** For processes of this user, on any free port. */
  public static final ServeOptions LOCAL =
      new ServeOptions(
          "127.0.0.1",
          0,
          null,
          4096,
          256L << 20,
          1024,
          64,
          FaultPlan.NONE,
          null,
          null,
          true,
          Adapter.DEFAULT);

  /** Requires a token where requests come over TCP. */
  public ServeOptions {
    if (control instanceof HostPort tcp && tcp.token() == null) {
      throw new IllegalArgumentException("a control port over TCP needs a token");
    }
  }

  /** These options with other promises. */
  public ServeOptions withAdapter(Adapter other) {
    return with(control, faults, captures, other);
  }

  /** These options with a fault plan. */
  public ServeOptions withFaults(FaultPlan plan) {
    return with(control, plan, captures, adapter);
  }

  /** These options with captures of clients in a folder. */
  public ServeOptions withCaptures(Path folder) {
    return with(control, faults, folder, adapter);
  }

  /** These options with requests at another place. */
  public ServeOptions withControl(ControlPlace place) {
    return with(place, faults, captures, adapter);
  }

  private ServeOptions with(
      @Nullable ControlPlace place, FaultPlan plan, @Nullable Path folder, Adapter promises) {
    return new ServeOptions(
        address,
        port,
        place,
        mtu,
        memoryBytes,
        queuePairs,
        clients,
        plan,
        capture,
        folder,
        strictPeerPort,
        promises);
  }
}
