# One file for the images of all components: SERVICE is corpus, compiler, orchestrator, gateway, profiler, generator or
# trainer; BASE_IMAGE a Debian or Ubuntu with Python 3.11 or 3.12. docs/kubernetes.md, "Images".
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm
# The tool chain comes from Debian's packages, whatever lies below the service.
ARG TOOLCHAIN_BASE_IMAGE=${BASE_IMAGE}

FROM ${BASE_IMAGE} AS packages
ARG SERVICE
# Packages that the base has, with what they need: "torch triton" of ROCm's and NVIDIA's bases.
ARG FROM_BASE=""
# Where the CPU build of torch is, besides the configured index; a folder of wheels may be mounted at /wheels.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /source
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_PROGRESS_BAR=off
COPY pyproject.toml requirements.lock ./
COPY scripts/locked scripts/
RUN set -eu; \
    python3 -m venv /build; \
    python3 -m venv --without-pip ${FROM_BASE:+--system-site-packages} /opt/kernelvault; \
    python3 scripts/locked build >/build/locked; \
    without=; for name in $FROM_BASE; do without="$without --without $name"; done; \
    python3 scripts/locked $without "$SERVICE" >/build/locked-service; \
    set -- --no-cache-dir --no-deps --require-hashes; \
    if [ -n "$(ls -A /wheels 2>/dev/null)" ]; then set -- "$@" --no-index --find-links /wheels; \
    elif [ -z "$FROM_BASE" ]; then set -- "$@" --extra-index-url "$TORCH_INDEX"; fi; \
    /build/bin/pip install "$@" -r /build/locked; \
    /build/bin/pip --python /opt/kernelvault/bin/python install "$@" -r /build/locked-service; \
    # What only NVIDIA's GPUs need of Triton, and torch's own tests and headers: a sixth of the compiler's image.
    cd /opt/kernelvault/lib/python3*/site-packages; \
    rm -rf triton/backends/nvidia/bin triton/backends/nvidia/lib torch/test torch/include; \
    [ ! -d torch/bin ] || find torch/bin -type f ! -name torch_shm_manager -delete; \
    [ -n "$FROM_BASE" ] || /build/bin/pip --python /opt/kernelvault/bin/python check

# By itself, so that an upgrade moves a small layer.
FROM packages AS package
ARG SERVICE
COPY . .
RUN set -eu; \
    /build/bin/pip wheel --no-cache-dir --no-deps --no-index --no-build-isolation --wheel-dir /build/wheel .; \
    set -- --no-cache-dir --no-deps --no-index; \
    /build/bin/pip --python /opt/kernelvault/bin/python install "$@" --no-warn-script-location --root /package /build/wheel/*.whl; \
    case $SERVICE in \
        orchestrator) server="kernelvault" ;; \
        gateway) server="python -m orchestrator.gateway" ;; \
        *) server="python -m svc_$SERVICE" ;; \
    esac; \
    printf '#!/bin/sh\nexec %s "$@"\n' "$server" >/package/opt/kernelvault/bin/serve; \
    chmod 755 /package/opt/kernelvault/bin/serve

FROM ${TOOLCHAIN_BASE_IMAGE} AS toolchain
ARG SERVICE
WORKDIR /source
COPY scripts/download-debian scripts/install-toolchain scripts/
RUN set -eu; \
    mkdir -p /opt/kernelvault /packages; \
    if [ "$SERVICE" = compiler ]; then \
        scripts/install-toolchain /opt/kernelvault/toolchain; \
        # For scanners: what was unpacked there is in no package database.
        mv /opt/kernelvault/toolchain/packages/* /packages; \
    fi

FROM ${BASE_IMAGE}
ARG BASE_IMAGE
ARG SERVICE
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG CREATED
ARG SOURCE=https://github.com/example/kernelvault
LABEL org.opencontainers.image.title="kernelvault-${SERVICE}" \
    org.opencontainers.image.description="The ${SERVICE} of kernelvault: verified HIP and Triton kernels for AMD CDNA GPUs" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}" \
    org.opencontainers.image.source="${SOURCE}" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="${BASE_IMAGE}"
# An init collects the orphans of killed children and passes signals on.
RUN set -eu; \
    command -v tini >/dev/null || { \
        apt-get update -qq; \
        apt-get install -y -qq --no-install-recommends tini >/dev/null; \
        rm -rf /var/lib/apt/lists/*; \
    }; \
    groupadd --gid 10001 kernelvault; \
    useradd --uid 10001 --gid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin kernelvault; \
    install -d -o 10001 -g 10001 /var/cache/kernelvault /var/lib/kernelvault
COPY --from=toolchain /packages /var/lib/dpkg/status.d
COPY --from=toolchain /opt/kernelvault /opt/kernelvault
COPY --from=packages /opt/kernelvault /opt/kernelvault
COPY --from=package /package/opt/kernelvault /opt/kernelvault
ENV PATH=/opt/kernelvault/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /tmp
USER 10001:10001
ENTRYPOINT ["tini", "--", "serve"]
