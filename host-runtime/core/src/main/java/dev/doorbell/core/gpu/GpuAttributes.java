package dev.doorbell.core.gpu;

/**
 * Model and limits of a GPU.
 *
 * @param name for people: "PTX VM", "NVIDIA H200"
 * @param computeCapability major times ten plus minor: 75, 90
 * @param multiprocessors number of SMs
 * @param maxThreadsPerBlock limit of a block
 * @param maxResidentBlocks how many blocks of a small kernel run at once; a grid barrier over more
 *     would hang
 * @param sharedBytesPerBlock limit of static plus dynamic shared memory
 * @param emulated true when no hardware is involved
 */
public record GpuAttributes(
    String name,
    int computeCapability,
    int multiprocessors,
    int maxThreadsPerBlock,
    int maxResidentBlocks,
    int sharedBytesPerBlock,
    boolean emulated) {}
