package dev.doorbell.core.hca;

import java.util.Set;

/**
 * The attributes of a target of dynamic connections.
 *
 * @param accessKey 64 bits that requests have to bring
 * @param receives where SENDs and WRITEs with immediate data take receives from
 * @param completions where these receives complete
 * @param rights of initiators
 * @param mtu largest path MTU that is accepted, in bytes
 * @param minRnrTimer code of the RNR timer, 0 to 31
 */
public record DcTargetAttributes(
    long accessKey,
    SharedReceiveQueue receives,
    CompletionQueue completions,
    Set<AccessRight> rights,
    int mtu,
    int minRnrTimer) {}
