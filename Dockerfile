# semsearch as a server of /documents, whose index is in /indexes. docs/running.md says how it is run.
# The image is named by its digest, as docker-library/repo-info lists it: docs/developers/security.md says how it is renewed.
ARG PYTHON=3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6

FROM python:${PYTHON} AS build
COPY . /source
RUN python3 -m venv /opt/semsearch \
    && /opt/semsearch/bin/python -m pip install --no-cache-dir --no-compile "/source[serve,mcp,watch]" \
    && /opt/semsearch/bin/python -m pip uninstall -q -y pip \
    && cp /source/tests/supply/container_start /opt/semsearch/bin/container_start \
    && chmod 755 /opt/semsearch/bin/container_start

FROM python:${PYTHON}
COPY --from=build /opt/semsearch /opt/semsearch
RUN useradd --uid 10001 --no-create-home --home-dir /indexes semsearch \
    && mkdir -p /documents /indexes \
    && chown semsearch:semsearch /indexes
ENV PATH=/opt/semsearch/bin:/usr/local/bin:/usr/bin:/bin \
    SEMSEARCH_INDEXES=/indexes \
    XDG_CONFIG_HOME=/indexes/.config \
    XDG_CACHE_HOME=/tmp/cache \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER semsearch
WORKDIR /documents
VOLUME ["/documents", "/indexes"]
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["container_start"]
CMD ["serve"]
