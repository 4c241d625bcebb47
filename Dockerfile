# A static binary, no shell, no root, no git. Build: docker build -t sluice . Run: see docs/install.md.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags=nomsgpack -trimpath -ldflags='-s -w' -o /sluice ./cmd/sluice && mkdir /data /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /sluice /src/LICENSE /src/THIRD_PARTY_NOTICES /
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build --chown=65532:65532 /empty /tmp
USER 65532:65532
WORKDIR /data
ENV SLUICE_LISTEN=0.0.0.0:8080 SLUICE_ADMIN_LISTEN=127.0.0.1:8081 SLUICE_DATABASE=/data/sluice.db
EXPOSE 8080
VOLUME /data
ENTRYPOINT ["/sluice"]
CMD ["serve"]
