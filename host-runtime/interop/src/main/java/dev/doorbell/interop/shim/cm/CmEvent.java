package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.Struct;
import org.jspecify.annotations.Nullable;

/**
 * An event that a program gets: {@code struct rdma_ucm_event_resp}.
 *
 * @param owner the id that counts it: of a connection request, the one that listens
 * @param id the id that it names
 * @param type {@code enum rdma_cm_event_type}
 * @param status 0, a negative error number, or a reason of the peer
 * @param parameters of the peer
 * @param data its private data, as long as the message that carried it can have
 * @param vendor ECE of the peer: {@code vendor_id}
 * @param ece the other word of it: {@code attr_mod}
 * @param multicast the membership that it is about, which it names in place of the id
 */
record CmEvent(
    CmId owner,
    CmId id,
    int type,
    int status,
    CmParameters parameters,
    Struct data,
    int vendor,
    int ece,
    CmId.@Nullable Multicast multicast) {
  /** Bytes of the structure, and those without its last three words, which came later. */
  static final int BYTES = 336;

  static final int OLD_BYTES = 324;

  private static final int PARAMETERS = 20;
  private static final Struct NOTHING = new Struct(0);

  CmEvent(
      CmId owner,
      CmId id,
      int type,
      int status,
      CmParameters parameters,
      Struct data,
      int vendor,
      int ece) {
    this(owner, id, type, status, parameters, data, vendor, ece, null);
  }

  /** An event about the id alone. */
  static CmEvent of(CmId id, int type, int status) {
    return new CmEvent(id, id, type, status, CmParameters.NONE, NOTHING, 0, 0);
  }

  /** An event that the program has written, with a number. */
  static CmEvent of(CmId id, int type, int status, long number) {
    Struct data = new Struct(Long.BYTES).u64(0, number);
    return new CmEvent(id, id, type, status, CmParameters.NONE, data, 0, 0);
  }

  static CmEvent of(CmId.Multicast multicast) {
    CmId id = multicast.id;
    int type = CmAbi.MULTICAST_JOIN;
    return new CmEvent(id, id, type, 0, CmParameters.NONE, NOTHING, 0, 0, multicast);
  }

  Struct structure() {
    Struct to =
        new Struct(BYTES)
            .u64(0, owner.userHandle)
            .u32(8, id.number)
            .u32(12, type)
            .u32(16, status)
            .u32(328, vendor)
            .u32(332, ece);
    if (type >= CmAbi.USER) {
      to.copy(data, 0, PARAMETERS, Long.BYTES);
    } else if (multicast != null) {
      multicast.write(to, PARAMETERS);
    } else if (id.isDatagram()) {
      // struct rdma_ucm_ud_param
      to.u32(PARAMETERS, parameters.queuePair()).u32(PARAMETERS + 4, parameters.queueKey());
      id.writeRoute(to, PARAMETERS + 8);
      to.copy(data, 0, PARAMETERS + 40, data.size())
          .u8(PARAMETERS + 40 + CmAbi.PRIVATE_DATA, data.size());
    } else {
      parameters.write(to, PARAMETERS);
      to.copy(data, 0, PARAMETERS + CmParameters.DATA, data.size())
          .u8(PARAMETERS + CmParameters.DATA_LENGTH, data.size());
    }
    return to;
  }
}
