package dev.doorbell.contract;

/** The kernels of {@link GpuContractTest}: small, and in PTX that every driver since 11.0 takes. */
final class ContractKernels {
  static final String NAME = "contract.ptx";

  private static final String HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n";

  private static final String VARIABLES =
      """
      .visible .global .align 8 .u64 counter = 40;
      .visible .const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      .extern .shared .align 8 .b8 scratch[];

      """;

  /** out[i] = in[i] + add for the 32-bit words of a grid. */
  private static final String ADD =
      """
      .visible .entry add(.param .u64 in, .param .u64 out, .param .u32 addend) {
        .reg .b64 %in, %out, %at;
        .reg .b32 %i, %t, %n, %x, %a;
        ld.param.u64 %in, [in];
        ld.param.u64 %out, [out];
        ld.param.u32 %a, [addend];
        mov.u32 %i, %ctaid.x;
        mov.u32 %n, %ntid.x;
        mov.u32 %t, %tid.x;
        mad.lo.u32 %i, %i, %n, %t;
        mul.wide.u32 %at, %i, 4;
        add.u64 %in, %in, %at;
        add.u64 %out, %out, %at;
        ld.global.u32 %x, [%in];
        add.u32 %x, %x, %a;
        st.global.u32 [%out], %x;
        ret;
      }
      """;

  /** out[0] = out[0] * 3 + add: a sequence of them shows the order of launches. */
  private static final String STEP =
      """
      .visible .entry step(.param .u64 out, .param .u32 addend) {
        .reg .b64 %out;
        .reg .b32 %x, %a;
        ld.param.u64 %out, [out];
        ld.param.u32 %a, [addend];
        ld.global.u32 %x, [%out];
        mad.lo.u32 %x, %x, 3, %a;
        st.global.u32 [%out], %x;
        ret;
      }
      """;

  /** Copies what it was passed, a structure between two numbers, to out. */
  private static final String PARAMETERS =
      """
      .visible .entry parameters(
        .param .u8 first,
        .param .align 8 .b8 pair[16],
        .param .u64 .ptr .global .align 8 out)
      {
        .reg .b64 %out, %x, %y;
        .reg .b32 %f;
        ld.param.u8 %f, [first];
        ld.param.u64 %x, [pair];
        ld.param.u64 %y, [pair+8];
        ld.param.u64 %out, [out];
        st.global.u32 [%out], %f;
        st.global.u64 [%out+8], %x;
        st.global.u64 [%out+16], %y;
        ret;
      }
      """;

  /** Every thread counts itself in a global variable. */
  private static final String COUNT =
      """
      .visible .entry count() {
        .reg .b64 %p;
        mov.u64 %p, counter;
        red.global.add.u64 [%p], 1;
        ret;
      }
      """;

  /** Thread t of a block reads what thread n-1-t wrote to dynamic shared memory. */
  private static final String REVERSE =
      """
      .visible .entry reverse(.param .u64 out) {
        .reg .b64 %out, %at, %s;
        .reg .b32 %t, %n, %x, %o, %p;
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %n, %ntid.x;
        mov.u32 %p, scratch;
        shl.b32 %o, %t, 2;
        add.u32 %o, %p, %o;
        st.shared.u32 [%o], %t;
        bar.sync 0;
        sub.u32 %x, %n, %t;
        sub.u32 %x, %x, 1;
        shl.b32 %o, %x, 2;
        add.u32 %o, %p, %o;
        ld.shared.u32 %x, [%o];
        mul.wide.u32 %at, %t, 4;
        add.u64 %out, %out, %at;
        st.global.u32 [%out], %x;
        ret;
      }
      """;

  /** One thread of every block arrives at words[0] and waits for all; the last says so. */
  private static final String MEET =
      """
      .visible .entry meet(.param .u64 words) {
        .reg .b64 %w;
        .reg .b32 %n, %x;
        .reg .pred %wait;
        ld.param.u64 %w, [words];
        mov.u32 %n, %nctaid.x;
        atom.acq_rel.gpu.global.add.u32 %x, [%w], 1;
      AGAIN:
        ld.acquire.gpu.global.u32 %x, [%w];
        setp.lt.u32 %wait, %x, %n;
        @%wait bra AGAIN;
        red.relaxed.gpu.global.add.u32 [%w+4], 1;
        ret;
      }
      """;

  /** Answers n numbers: waits for a[0] == i, then stores i to b[0]. */
  private static final String ANSWER =
      """
      .visible .entry answer(.param .u64 a, .param .u64 b, .param .u32 n) {
        .reg .b64 %a, %b, %i, %x, %n;
        .reg .b32 %m;
        .reg .pred %p;
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u32 %m, [n];
        cvt.u64.u32 %n, %m;
        mov.u64 %i, 1;
      NEXT:
        ld.acquire.sys.global.u64 %x, [%a];
        setp.ne.u64 %p, %x, %i;
        @%p bra NEXT;
        st.release.sys.global.u64 [%b], %i;
        add.u64 %i, %i, 1;
        setp.le.u64 %p, %i, %n;
        @%p bra NEXT;
        ret;
      }
      """;

  /** Rings n doorbells with the values 1 to n, each after a store to a record. */
  private static final String RING =
      """
      .visible .entry ring(.param .u64 record, .param .u64 register, .param .u32 n) {
        .reg .b64 %record, %register, %i, %n;
        .reg .b32 %m;
        .reg .pred %p;
        ld.param.u64 %record, [record];
        ld.param.u64 %register, [register];
        ld.param.u32 %m, [n];
        cvt.u64.u32 %n, %m;
        mov.u64 %i, 1;
      NEXT:
        st.relaxed.sys.global.u64 [%record], %i;
        fence.acq_rel.sys;
        st.relaxed.sys.global.u64 [%register], %i;
        add.u64 %i, %i, 1;
        setp.le.u64 %p, %i, %n;
        @%p bra NEXT;
        ret;
      }
      """;

  static final String PTX =
      HEADER + VARIABLES + ADD + STEP + PARAMETERS + COUNT + REVERSE + MEET + ANSWER + RING;

  private ContractKernels() {}

  /** A file with a line that no compiler takes. */
  static String broken() {
    return HEADER
        + """
        .visible .entry broken(.param .u64 out) {
          .reg .b64 %out;
          ld.param.u64 %out, [out];
          ld.global.u33 %out, [%out];
          ret;
        }
        """;
  }
}
